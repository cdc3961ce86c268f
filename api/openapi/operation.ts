/** A route and what the OpenAPI document says of it. @module */

import type { ErrorCode, JsonValue } from "@sig/core";
import type { Handler } from "hono";
import type { ServiceEnv } from "../http/mod.ts";
import type { z } from "zod";

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
    /** The media type. */
    readonly type: string;
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
