/** The page's configuration, and requests to its server. @module */
/// <reference lib="dom" />

import { isSigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { DescribedChallenge } from "@sig/jose";
import type { Keys } from "./keys/use_keys.ts";
import type { PageConfig } from "./page_config.ts";

/** The properties that every view receives. */
export interface PageContext {
  readonly config: PageConfig;
  readonly keys: Keys;
}

/** Reads the configuration from the page's HTML. */
export function readConfig(): PageConfig {
  const meta = document.querySelector<HTMLMetaElement>(
    'meta[name="sig-config"]',
  );
  return JSON.parse(meta?.content ?? "");
}

/** A request to sign in (docs/protocol.md §7). */
export interface Challenge extends DescribedChallenge {
  readonly message: string;
}

/** What the page shows of a successful sign-in. */
export interface Login {
  readonly subject: string;
  readonly audience: string;
  readonly scopes: readonly string[];
  readonly verified_at: string;
  readonly relationship: Readonly<Record<string, unknown>> | null;
}

/** An application that waits for a sign-in through OpenID Connect. */
export interface Interaction {
  readonly client: {
    readonly client_id: string;
    readonly client_name: string;
  };
  readonly challenge: Challenge;
}

/** The server's problem details (RFC 9457), or the page's own error. */
export class Problem extends Error {
  /** The stable code; `no_answer` and `sign_failed` are this page's own. */
  readonly code: string;
  /** What to do next, if the server says so. */
  readonly hint: string;
  /** All members of the problem. */
  readonly body: Readonly<Record<string, unknown>>;

  /** Creates a problem from a response. */
  constructor(
    code: string,
    detail: string,
    body: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
    this.code = code;
    this.body = body;
    this.hint = typeof body.hint === "string" ? body.hint : "";
  }
}

/** Converts an error during a sign-in to a problem. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isSigError(error)) {
    return new Problem(error.code, error.message, { ...error.context });
  }
  return new Problem(
    "sign_failed",
    "This browser did not sign. Reload the page and try again.",
  );
}

/**
 * Sends a request to the server.
 *
 * @throws {Problem} for every response that is not a success.
 */
export async function request<T>(path: string, sent?: unknown): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: sent === undefined ? "GET" : "POST",
      cache: "no-store",
      redirect: "error",
      ...(sent === undefined ? {} : {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(sent),
      }),
    });
  } catch {
    throw new Problem("no_answer", "The server did not answer.");
  }
  const received: unknown = await response.json().catch(() => undefined);
  if (response.ok && received !== undefined) return received as T;
  const body = isObject(received) ? received : {};
  throw new Problem(
    typeof body.code === "string" ? body.code : "no_answer",
    typeof body.detail === "string"
      ? body.detail
      : `The server answered with status ${response.status}.`,
    body,
  );
}
