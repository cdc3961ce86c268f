/** A request's body as strict JSON (SECURITY §2, §5). @module */

import {
  JsonError,
  parseJson,
  parseJsonSteps,
  runInSlices,
  SigError,
} from "@sig/core";
import type { KnownBodies } from "./known_bodies.ts";
import { type BodyLimits, readBody } from "./read_body.ts";

/** `application/json` with any parameters (RFC 9110 §5.6.6, §8.3.1). */
const JSON_TYPE =
  /^application\/json(?:[ \t]*;(?:[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t\x20-\x7e])*"))?)*[ \t]*$/i;
/** An encoding other than the one that JSON has (RFC 8259 §8.1). */
const OTHER_CHARSET = /;[ \t]*charset=(?!(?:utf-8|"utf-8")[ \t]*(?:;|$))/i;

/**
 * Values in a body at most: far more than any request needs (a feed is one
 * text), and few enough that others don't wait while they are read.
 */
const MAX_VALUES = 50_000;

/** Bytes that are parsed in a fraction of a millisecond. */
const SMALL_BYTES = 8 * 1024;

/** How much a body may take, and what follows when it is there. */
export interface JsonBodyLimits extends BodyLimits {
  /** Told that it is there, before it is parsed; may throw to refuse it. */
  readonly onArrival?: () => void;
}

/**
 * Reads and parses a request's body: at most 50,000 values. With
 * `breathe` a large one is parsed in slices. Any other type is refused, and a web page
 * of another site can't send this one without being asked about it first.
 *
 * @example
 * ```ts
 * import { readJsonBody } from "./read_json_body.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const request = new Request("http://127.0.0.1/", {
 *   method: "POST",
 *   headers: { "content-type": "application/json" },
 *   body: '{"a":1}',
 * });
 * const limits = {
 *   maxBytes: 64,
 *   timeoutMs: 1_000,
 *   reserve() {},
 *   awaitBody: () => () => {},
 * };
 * assertEquals(await readJsonBody(request, limits), { a: 1 });
 * ```
 *
 * @throws {SigError} `unsupported_media_type`, `invalid_json` with the place of
 * the fault, and what {@linkcode readBody} and `onArrival` throw.
 */
export async function readJsonBody(
  request: Request,
  limits: JsonBodyLimits,
  breathe?: () => Promise<void>,
): Promise<unknown> {
  return await parseBody(await readJsonBytes(request, limits), breathe);
}

/** How a body becomes what it says. */
export interface BodyReader<T extends object> {
  /** What was read before. */
  readonly known: KnownBodies<T>;
  /** Reads JSON, or throws what is wrong with it. */
  readonly read: (body: unknown) => T;
}

/**
 * {@linkcode readJsonBody} and what the body says, read once for equal bodies.
 *
 * @throws {SigError} as {@linkcode readJsonBody} and `read`.
 */
export async function readKnownBody<T extends object>(
  request: Request,
  limits: JsonBodyLimits,
  { known, read }: BodyReader<T>,
  breathe?: () => Promise<void>,
): Promise<T> {
  const bytes = await readJsonBytes(request, limits);
  return known.read(
    bytes,
    async () => read(await parseBody(bytes, breathe)),
  );
}

async function readJsonBytes(
  request: Request,
  limits: JsonBodyLimits,
): Promise<Uint8Array> {
  requireJsonType(request.headers);
  const bytes = await readBody(request, limits);
  limits.onArrival?.();
  return bytes;
}

async function parseBody(
  bytes: Uint8Array,
  breathe?: () => Promise<void>,
): Promise<unknown> {
  try {
    const options = { maxValues: MAX_VALUES };
    return breathe === undefined || bytes.length <= SMALL_BYTES
      ? parseJson(bytes, options)
      // When it is there, not when it is asked for: many come at once.
      : await breathe().then(() =>
        runInSlices(parseJsonSteps(bytes, options), breathe)
      );
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { fault, pointer, message } = error;
    throw new SigError("invalid_json", `Cannot read body: ${message}`, {
      context: {
        ...(pointer === "" ? {} : { pointer }),
        ...(fault === "values" ? { limit: MAX_VALUES } : {}),
      },
    });
  }
}

function requireJsonType(headers: Headers): void {
  const type = headers.get("content-type");
  // Nearly every client spells it so.
  const isUsual = type === "application/json";
  if (
    !isUsual &&
    (type === null || !JSON_TYPE.test(type) || OTHER_CHARSET.test(type))
  ) {
    throw unsupported("it must be application/json in UTF-8", {
      hint: "Send the header content-type: application/json.",
    });
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw unsupported("it must not be compressed", {
      hint: "Send it without content-encoding.",
    });
  }
}

function unsupported(why: string, context: { readonly hint: string }) {
  return new SigError("unsupported_media_type", `Cannot read body: ${why}`, {
    context,
  });
}
