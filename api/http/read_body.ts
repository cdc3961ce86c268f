/** Reads a request's body as strict JSON or as a form. @module */

import { JsonError, parseJson, SigError } from "@sig/core";
import type { Context } from "hono";
import { Capacity, RequestBudget } from "./limits.ts";
import { readBytes } from "./read_bytes.ts";

/** Maximum size in bytes of a request that may contain a feed. */
export const MAX_FEED_BODY_BYTES: number = 4 * 1024 * 1024;
/** Maximum size in bytes of any other request (docs/protocol.md §8). */
export const MAX_BODY_BYTES: number = 64 * 1024;
/** Maximum size in bytes of a form. */
const MAX_FORM_BYTES = 16 * 1024;

/** `application/json` with any parameters (RFC 9110 §5.6.6, §8.3.1). */
const JSON_TYPE =
  /^application\/json(?:[ \t]*;(?:[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t\x20-\x7e])*"))?)*[ \t]*$/i;
/** A charset other than UTF-8, the only one of JSON (RFC 8259 §8.1). */
const OTHER_CHARSET = /;[ \t]*charset=(?!(?:utf-8|"utf-8")[ \t]*(?:;|$))/i;
const FORM_TYPE =
  /^application\/x-www-form-urlencoded(?:[ \t]*;[ \t]*charset="?utf-8"?)?[ \t]*$/i;

/**
 * Maximum number of JSON values in a body: far more than any request needs (a
 * feed is one text), and few enough to parse without delaying other requests.
 */
const MAX_VALUES = 50_000;
/**
 * Maximum size in bytes of a body that is parsed in a fraction of a
 * millisecond.
 */
const PARSED_AT_ONCE_BYTES = 8 * 1024;

/**
 * Reads a request's body as strict JSON of at most 50,000 values. The required
 * content type makes browsers send a preflight for cross-site requests.
 *
 * @example
 * ```ts
 * import { readJson } from "@sig/api/internal/http";
 * import { assertEquals } from "@std/assert";
 * import { Hono } from "hono";
 *
 * const app = new Hono();
 * app.post("/", async (c) => c.json(await readJson(c, 64)));
 * const response = await app.request("/", {
 *   method: "POST",
 *   headers: { "content-type": "application/json" },
 *   body: '{"a":1}',
 * });
 * assertEquals(await response.json(), { a: 1 });
 * ```
 *
 * @throws {SigError} `unsupported_media_type`, `body_too_large`,
 * `request_timeout`, `invalid_json` with the place of the fault, `overloaded`.
 */
export async function readJson(c: Context, maxBytes: number): Promise<unknown> {
  const bytes = await readJsonBytes(c, maxBytes);
  return await parseJsonBody(bytes, budgetOf(c).capacity);
}

/**
 * Reads a request's body as {@linkcode readJson} does, but accepts any content
 * type.
 *
 * @throws {SigError} as {@linkcode readJson}, except `unsupported_media_type`.
 */
export async function readUntypedJson(
  c: Context,
  maxBytes: number,
): Promise<unknown> {
  const bytes = await receive(c, maxBytes);
  return await parseJsonBody(bytes, budgetOf(c).capacity);
}

/**
 * Returns the bytes of a JSON body. When they have arrived, the request takes a
 * slot.
 *
 * @throws {SigError} as {@linkcode readJson}.
 */
export async function readJsonBytes(
  c: Context,
  maxBytes: number,
): Promise<Uint8Array> {
  const { headers } = c.req.raw;
  const type = headers.get("content-type") ?? "";
  // Fast path: most clients send exactly this.
  const isJson = type === "application/json" ||
    JSON_TYPE.test(type) && !OTHER_CHARSET.test(type);
  if (!isJson) {
    throw unsupported(
      "it must be application/json in UTF-8",
      "Send the header content-type: application/json.",
    );
  }
  if (isEncoded(headers)) {
    throw unsupported(
      "it must not be compressed",
      "Send it without content-encoding.",
    );
  }
  return await receive(c, maxBytes);
}

/**
 * Parses a body's bytes as strict JSON.
 *
 * @param shared Whose event loop turns a large body waits for.
 * @throws {SigError} `invalid_json` with the place of the fault.
 */
export async function parseJsonBody(
  bytes: Uint8Array,
  shared: Pick<Capacity, "yieldToEventLoop">,
): Promise<unknown> {
  // Many bodies may arrive at once; health checks are answered between them.
  if (bytes.length > PARSED_AT_ONCE_BYTES) await shared.yieldToEventLoop();
  try {
    return parseJson(bytes, { maxValues: MAX_VALUES });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { fault, pointer, message } = error;
    throw new SigError("invalid_json", {
      action: "read body",
      reason: message,
      context: {
        ...(pointer === "" ? {} : { pointer }),
        ...(fault === "values" ? { limit: MAX_VALUES } : {}),
      },
    });
  }
}

/**
 * Reads a request's body as a form of at most 16 KiB, including repeated fields.
 *
 * @throws {SigError} `unsupported_media_type`, `body_too_large`,
 * `request_timeout`, `overloaded`, `invalid_request` if it is not UTF-8.
 */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const { headers } = c.req.raw;
  if (
    !FORM_TYPE.test(headers.get("content-type") ?? "") || isEncoded(headers)
  ) {
    throw unsupported(
      "it must be application/x-www-form-urlencoded in UTF-8",
      "Send the header content-type: application/x-www-form-urlencoded, and no content-encoding.",
    );
  }
  const bytes = await receive(c, MAX_FORM_BYTES);
  try {
    return new URLSearchParams(
      new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    );
  } catch {
    throw new SigError("invalid_request", {
      action: "read body",
      reason: "it is not UTF-8",
    });
  }
}

async function receive(c: Context, maxBytes: number): Promise<Uint8Array> {
  const budget = budgetOf(c);
  const bytes = await readBytes(c.req.raw, maxBytes, budget);
  budget.enter();
  return bytes;
}

/**
 * Returns the request's budget; outside a service, a new one with the default
 * limits.
 */
export function budgetOf(c: Context): RequestBudget {
  return c.get("budget") ?? new RequestBudget(new Capacity());
}

function isEncoded(headers: Headers): boolean {
  const encoding = headers.get("content-encoding");
  return encoding !== null && encoding.toLowerCase() !== "identity";
}

function unsupported(why: string, hint: string): SigError {
  return new SigError("unsupported_media_type", {
    action: "read body",
    reason: why,
    context: { hint },
  });
}
