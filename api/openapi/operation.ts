/** A route with its OpenAPI description and the error codes of its problems. @module */

import { ERROR_CODES, type ErrorCode } from "@sig/core";
import type { Context } from "hono";
import type { JsonBody, ServiceEnv } from "../http/mod.ts";
import type { z } from "zod";

/** The version of this package; a test compares it with `deno.json`. */
export const VERSION = "0.1.0";

/** The groups of routes, in the order of the document. */
export const TAGS = Object.freeze({
  questions: "May a subject do this, and is a feed valid?",
  authzen: "The same question in the format of OpenID AuthZEN.",
  service: "About the service itself; none of these needs a token.",
});

/** A documented route. */
export interface Operation {
  /** The method; `GET` also answers `HEAD`. */
  readonly method: "GET" | "POST";
  /** The path. */
  readonly path: string;
  /** Whether it is answered without a token. */
  readonly open?: true;
  /**
   * Creates the response from the bytes of the body, which are none for `GET`;
   * absent for routes that every service has.
   */
  readonly handle?: (
    c: Context<ServiceEnv>,
    body: Uint8Array,
  ) => Response | Promise<Response>;
  /** The operation's name in generated clients, and in `operations.json`. */
  readonly id: string;
  /** The body of a request. */
  readonly body?: JsonBody & {
    /** The schema of the body. */
    readonly schema: z.ZodType;
  };
  /** The schema of the successful response, which has a description. */
  readonly answer: z.ZodType;
  /** The media type of that response (default: JSON). */
  readonly answerType?: string;
  /** The schema of a probe's response while the service is not ready (503). */
  readonly unready?: z.ZodType;
  /** Error codes of its problems, in addition to those that every route has. */
  readonly codes: readonly ErrorCode[];
}

const ALL = Object.keys(ERROR_CODES) as ErrorCode[];

/** Errors of the request's body. */
export const REQUEST_CODES: readonly ErrorCode[] = [
  "invalid_json",
  "unsupported_media_type",
  "body_too_large",
  "request_timeout",
  "origin_not_allowed",
];

/** Errors of locating or fetching the issuer. */
export const SOURCE_CODES: readonly ErrorCode[] = [
  "invalid_identifier",
  "unsupported_did_method",
  "insecure_url",
  "issuer_not_allowed",
  "address_not_allowed",
  "fetch_failed",
  "fetch_status",
  "fetch_redirected",
  "fetch_media_type",
  "fetch_timeout",
  "document_too_large",
  "feed_too_large",
  "too_many_events",
  "overloaded",
];

/**
 * All errors that leave a question without an answer, such as invalid or
 * contradictory documents.
 */
export const ANSWER_CODES: readonly ErrorCode[] = [
  ...SOURCE_CODES,
  ...ALL.filter((code) =>
    ERROR_CODES[code].category === "invalid" && code !== "invalid_attestation"
  ),
  "feed_rolled_back",
  "feed_rewritten",
  "key_replaced",
  "key_withdrawn",
  "line_too_long",
  "consistency_unavailable",
  "feed_stale",
];

/** Errors that every route can have. */
export const COMMON_CODES: readonly ErrorCode[] = [
  // An invalid host is `invalid_request` on every route.
  "invalid_request",
  "host_not_allowed",
  "method_not_allowed",
  "internal",
];

/** Further errors of routes that limits apply to. */
export const BUSY_CODES: readonly ErrorCode[] = ["rate_limited", "overloaded"];
