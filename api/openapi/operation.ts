/** A route, what the OpenAPI document says of it, and which problems it can give. @module */

import { ERROR_CODES, type ErrorCode, type JsonValue } from "@sig/core";
import type { Handler } from "hono";
import type { ServiceEnv } from "../http/mod.ts";
import type { z } from "zod";

/** The version of this package; a test compares it with `deno.json`. */
export const VERSION = "0.1.0";

/** The groups of routes, in the order of the document. */
export const TAGS = Object.freeze({
  questions: "May a subject do this, and is a feed in order?",
  authzen: "The same question as OpenID AuthZEN asks it.",
  service: "About the service itself; none of these needs a token.",
});

/** The name of a group. */
type Tag = keyof typeof TAGS;

/** One request and the answer that it gets; a test asks the service. */
export interface Example {
  /** What it shows. */
  readonly summary: string;
  /** The body of the request; absent for `GET`. */
  readonly request?: JsonValue;
  /** The body of the answer; absent where it is a text. */
  readonly answer?: JsonValue;
}

/** A documented route. */
export interface Operation {
  /** `GET` answers `HEAD` too. */
  readonly method: "GET" | "POST";
  /** Its path. */
  readonly path: string;
  /** Answers without a token. */
  readonly open?: true;
  /** Makes the response; absent where every service answers by itself. */
  readonly handle?: Handler<ServiceEnv>;
  /** Its name in generated clients. */
  readonly id: string;
  /** The group that it is listed in. */
  readonly tag: Tag;
  /** One line. */
  readonly summary: string;
  /** In more words. */
  readonly description: string;
  /** What a request carries. */
  readonly body?: {
    /** The schema of the body. */
    readonly schema: z.ZodType;
    /** Bytes at most. */
    readonly maxBytes: number;
    /** Another type is `invalid_request`, not `unsupported_media_type`. */
    readonly otherTypeIsInvalid?: true;
  };
  /** What it is answered with. */
  readonly answer: {
    /** The media type (default: JSON). */
    readonly type?: string;
    /** In words. */
    readonly description: string;
    /** The schema of the body. */
    readonly schema: z.ZodType;
  };
  /** What a probe is answered with (503) while the service is not ready. */
  readonly unready?: {
    /** In words. */
    readonly description: string;
    /** The schema of the body. */
    readonly schema: z.ZodType;
  };
  /** By name. */
  readonly examples: { readonly [name: string]: Example };
  /** The codes of its problems, beside those that every route can give. */
  readonly codes: readonly ErrorCode[];
}

/** Bytes of a request that may carry a feed. */
export const MAX_FEED_BODY_BYTES: number = 4 * 1024 * 1024;
/** Bytes of every other request. */
export const MAX_BODY_BYTES: number = 64 * 1024;

const ALL = Object.keys(ERROR_CODES) as ErrorCode[];

/** A body that is wrong by itself. */
export const REQUEST_CODES: readonly ErrorCode[] = [
  ...["invalid_json", "unsupported_media_type"] as const,
  ...["body_too_large", "request_timeout", "origin_not_allowed"] as const,
];

/** The issuer can't be asked, or does not answer. */
export const SOURCE_CODES: readonly ErrorCode[] = [
  ...["invalid_identifier", "unsupported_did_method", "insecure_url"] as const,
  ...["issuer_not_allowed", "address_not_allowed"] as const,
  ...["fetch_failed", "fetch_status", "fetch_redirected"] as const,
  ...["fetch_media_type", "fetch_timeout", "document_too_large"] as const,
  ...["feed_too_large", "too_many_events", "overloaded"] as const,
];

/** There is no answer, or what the issuer published is invalid or contradictory. */
export const ANSWER_CODES: readonly ErrorCode[] = [
  ...SOURCE_CODES,
  ...ALL.filter((code) =>
    ERROR_CODES[code].category === "invalid" && code !== "invalid_attestation"
  ),
  ...["feed_rolled_back", "feed_rewritten", "key_replaced"] as const,
  ...["key_withdrawn", "line_too_long"] as const,
  ...["consistency_unavailable", "feed_stale"] as const,
];

/** What every route can give. */
export const COMMON_CODES: readonly ErrorCode[] = [
  // An invalid host is `invalid_request`, whatever is asked.
  ...["invalid_request", "host_not_allowed", "method_not_allowed"] as const,
  "internal",
];

/** What a route can give that is not answered however busy the service is. */
export const BUSY_CODES: readonly ErrorCode[] = ["rate_limited", "overloaded"];
