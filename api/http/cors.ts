/** Pages of other origins, where the operator allows them. @module */

import { quote, SigError } from "@sig/core";
import { splitUrl } from "./split_url.ts";

type Header = readonly [string, string];

/** The headers of cross-origin requests (WHATWG Fetch, CORS protocol). */
export interface Cors {
  /** What every response to this request says. */
  headersFor(request: Request): readonly Header[];
  /** Whether a browser asks if it may ask. */
  isPreflight(request: Request): boolean;
  /** What the answer to that says in addition. */
  readonly preflightHeaders: readonly Header[];
}

const NONE: readonly Header[] = [];
const VARY: Header = ["vary", "origin"];
const JUST_VARY: readonly Header[] = [VARY];

/** Whether pages of an origin may ask what is at a path. */
export type AllowOrigin = (origin: string, path: string) => boolean;

/**
 * Makes the CORS headers for exactly these origins; none: no header at all, and
 * browsers keep other origins' pages out. Never `*`, never with credentials.
 * `allowOrigin` says it of further origins, path by path, each time anew.
 *
 * @example
 * ```ts
 * import { createCors } from "./cors.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const cors = createCors(["https://app.acme.example"]);
 * const headers = { origin: "https://evil.example" };
 * const request = new Request("http://127.0.0.1/", { headers });
 * assertEquals(cors.headersFor(request), [["vary", "origin"]]);
 * ```
 *
 * @throws {SigError} `invalid_request` for what is no origin.
 */
export function createCors(
  origins: readonly string[],
  allowOrigin?: AllowOrigin,
): Cors {
  for (const origin of origins) requireOrigin(origin);
  const headers = new Map(origins.map((each) => [each, headersOf(each)]));
  const isAllowed = (origin: string, request: Request) =>
    headers.has(origin) ||
    allowOrigin?.(origin, splitUrl(request.url).path) === true;
  return {
    headersFor(request) {
      if (headers.size === 0 && allowOrigin === undefined) return NONE;
      const origin = request.headers.get("origin");
      if (origin === null || !isAllowed(origin, request)) return JUST_VARY;
      return headers.get(origin) ?? headersOf(origin);
    },
    isPreflight(request) {
      const { method, headers: given } = request;
      return method === "OPTIONS" &&
        given.has("access-control-request-method") &&
        isAllowed(given.get("origin") ?? "", request);
    },
    preflightHeaders: [
      ["access-control-allow-methods", "GET, POST"],
      [
        "access-control-allow-headers",
        "content-type, authorization, x-request-id",
      ],
      ["access-control-max-age", "600"],
    ],
  };
}

function headersOf(origin: string): readonly Header[] {
  return [
    VARY,
    ["access-control-allow-origin", origin],
    ["access-control-expose-headers", "x-request-id, retry-after"],
  ];
}

function requireOrigin(origin: string): void {
  if (URL.parse(origin)?.origin === origin) return;
  throw new SigError(
    "invalid_request",
    `Cannot allow origin ${quote(origin)}: it must be an origin`,
    {
      context: {
        flag: "--cors-origin",
        hint: "For example: https://app.acme.example, with no path behind it.",
      },
    },
  );
}
