/**
 * Parsing of a feed line: envelope and protected header (docs/protocol.md §2).
 *
 * @module
 */

import { decodeBase64UrlInto } from "../text/bytes.ts";
import { type ErrorContext, SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";
import { isKid, isObject, MAX_KID_LENGTH, member } from "./fields.ts";
import { JsonError, parseJson } from "../text/json.ts";
import { DEFAULT_LIMITS, type Limits } from "../text/limits.ts";
import { quote } from "../text/escape_invisible.ts";
import {
  EVENT_TYP,
  type EventHeader,
  type FlattenedJws,
  type OpenObject,
} from "./types.ts";

/** A well-formed line. Its signature is not verified yet. */
export interface ParsedEnvelope {
  /** The protected header. */
  readonly header: EventHeader;
  /** The signed bytes: `<protected>.<payload>` in ASCII. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
  /** The decoded payload. */
  readonly payload: Uint8Array<ArrayBuffer>;
  /** The decoded signature, of any length. */
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** Options of {@linkcode parseFeedLine}. */
export interface ParseFeedLineOptions {
  /** Size limits (default: {@linkcode DEFAULT_LIMITS}). */
  readonly limits?: Limits;
}

/**
 * Parses lines of one feed. The returned bytes are valid until the next call,
 * which reuses their memory.
 */
export type FeedLineParser = (line: Uint8Array) => ParsedEnvelope;

/** Maximum number of cached headers, more than an honest feed has. */
const MAX_CACHED_HEADERS = 256;

/**
 * Parses one line of a feed, without its LF. Rules apply in the order of
 * docs/protocol.md §2: size, UTF-8, JSON, members, base64url, header.
 *
 * @example
 * ```ts
 * import { isSigError, parseFeedLine } from "@sig/core";
 * import { assert, assertThrows } from "@std/assert";
 *
 * const error = assertThrows(() => parseFeedLine('{"payload":"e30"}'));
 * assert(isSigError(error, "invalid_envelope"));
 * ```
 *
 * @throws {SigError} `line_too_long`, `invalid_line`, `duplicate_json_member`,
 * `invalid_envelope`, `invalid_base64url`, `invalid_header`,
 * `crit_not_supported`, `algorithm_not_allowed`, `typ_mismatch`.
 */
export function parseFeedLine(
  line: Uint8Array | string,
  options: ParseFeedLineOptions = {},
): ParsedEnvelope {
  const bytes = typeof line === "string"
    ? new TextEncoder().encode(line)
    : line;
  return createFeedLineParser(options)(bytes);
}

/**
 * Creates a parser of many lines. Each distinct header is parsed once, since a
 * feed has only a few, and all lines share the same memory. The parser throws
 * the errors of {@linkcode parseFeedLine}.
 *
 * @example
 * ```ts
 * import { createFeedLineParser } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 * import { encodeBase64Url } from "@std/encoding/base64url";
 *
 * const header = { alg: "EdDSA", kid: "orgsign-1", typ: "sig-event+jws" };
 * const line = JSON.stringify({
 *   protected: encodeBase64Url(JSON.stringify(header)),
 *   payload: encodeBase64Url("{}"),
 *   signature: encodeBase64Url(new Uint8Array(64)),
 * });
 * const parse = createFeedLineParser();
 * assertEquals(parse(new TextEncoder().encode(line)).header.kid, "orgsign-1");
 * ```
 */
export function createFeedLineParser(
  options: ParseFeedLineOptions = {},
): FeedLineParser {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const headers = new Map<string, EventHeader>();
  // Each is as long as the line at least.
  let ascii = new Uint8Array(FIRST_BUFFER_BYTES);
  let decoded = new Uint8Array(FIRST_BUFFER_BYTES);
  return (line) => {
    if (line.length > limits.maxLineBytes) {
      throw fault(
        "line_too_long",
        `it is longer than ${limits.maxLineBytes} bytes`,
        { limit: limits.maxLineBytes },
      );
    }
    const envelope = parseEnvelope(line, limits);
    if (ascii.length < line.length) {
      ascii = new Uint8Array(2 * line.length);
      decoded = new Uint8Array(2 * line.length);
    }
    let used = 0;
    const decode = (name: keyof FlattenedJws, from: number, to: number) => {
      const length = decodeBase64UrlInto(ascii, from, to, decoded, used);
      if (length >= 0) return decoded.subarray(used, used += length);
      throw fault(
        "invalid_base64url",
        `${name} must be base64url without padding, white space or trailing bits`,
        { pointer: `/${name}` },
      );
    };
    const dot = encoder.encodeInto(envelope.protected, ascii).written;
    ascii[dot] = DOT;
    const end = writeAt(dot + 1, envelope.payload, ascii);
    // A cached header is known to be canonical base64url.
    let header = headers.get(envelope.protected);
    const headerBytes = header === undefined
      ? decode("protected", 0, dot)
      : undefined;
    const payload = decode("payload", dot + 1, end);
    const last = writeAt(end, envelope.signature, ascii);
    const signature = decode("signature", end, last);
    if (header === undefined) {
      header = parseHeader(headerBytes!, limits);
      if (headers.size < MAX_CACHED_HEADERS) {
        headers.set(envelope.protected, header);
      }
    }
    return { header, signingInput: ascii.subarray(0, end), payload, signature };
  };
}

/** Writes a text at an offset; returns the offset after it. */
function writeAt(offset: number, text: string, bytes: Uint8Array): number {
  return offset + encoder.encodeInto(text, bytes.subarray(offset)).written;
}

const encoder = /* @__PURE__ */ new TextEncoder();
const FIRST_BUFFER_BYTES = 4096;
const DOT = 0x2e;

function fault(
  code: ErrorCode,
  why: string,
  context: ErrorContext = {},
): SigError {
  return new SigError(code, { action: "read feed line", reason: why, context });
}

const MEMBERS: readonly string[] = ["protected", "payload", "signature"];

function parseEnvelope(line: Uint8Array, limits: Limits): FlattenedJws {
  const value = parseLineJson(line, limits);
  if (!isObject(value)) {
    throw fault("invalid_line", "it must be one JSON object");
  }
  for (const name of MEMBERS) {
    if (typeof member(value, name) === "string") continue;
    const isThere = Object.hasOwn(value, name);
    const why = isThere ? "must be a string" : "is missing";
    throw fault("invalid_envelope", `member ${name} ${why}`, {
      pointer: `/${name}`,
    });
  }
  const extra = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (extra === undefined) return value as OpenObject & FlattenedJws;
  throw fault(
    "invalid_envelope",
    `it must have exactly protected, payload and signature, and has ${
      quote(extra)
    } too`,
    extra === "header"
      ? { hint: "An unprotected header is not allowed." }
      : undefined,
  );
}

function parseLineJson(line: Uint8Array, limits: Limits): unknown {
  try {
    // JSON allows a CR as white space, but lines end with LF alone.
    if (line.includes(0x0d)) {
      throw new JsonError("syntax", "", "it holds a carriage return");
    }
    return parseJson(line, { maxDepth: limits.maxJsonDepth });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    switch (error.fault) {
      case "duplicate":
        throw fault("duplicate_json_member", error.message, {
          pointer: error.pointer,
        });
      // The line is one JSON object, but an envelope has no members of this
      // type.
      case "number":
      case "string":
        throw error.inObject
          ? fault("invalid_envelope", error.message, { pointer: error.pointer })
          : fault("invalid_line", error.message);
      default:
        throw fault("invalid_line", error.message);
    }
  }
}

/** Parses the header: exactly alg, kid and typ (docs/protocol.md §2.5). */
function parseHeader(bytes: Uint8Array, limits: Limits): EventHeader {
  const header = parseHeaderJson(bytes, limits);
  for (const name of ["crit", "b64"]) {
    if (Object.hasOwn(header, name)) {
      throw fault("crit_not_supported", `header member ${name} is not allowed`);
    }
  }
  const alg = member(header, "alg");
  if (alg !== "EdDSA") {
    const hint = alg === "Ed25519"
      ? { hint: 'SIG v0.1 names this algorithm "EdDSA".' }
      : {};
    throw fault("algorithm_not_allowed", "alg must be EdDSA", hint);
  }
  if (member(header, "typ") !== EVENT_TYP) {
    // Prevents a signature made for another purpose from counting as an event.
    throw fault("typ_mismatch", `typ must be ${EVENT_TYP}`);
  }
  const kid = member(header, "kid");
  if (!isKid(kid)) {
    throw fault(
      "invalid_header",
      `kid must be 1 to ${MAX_KID_LENGTH} characters without control characters`,
    );
  }
  if (Object.keys(header).length > 3) {
    throw fault(
      "invalid_header",
      "the header must have exactly alg, kid and typ",
      { kid },
    );
  }
  return { alg, kid, typ: EVENT_TYP };
}

function parseHeaderJson(bytes: Uint8Array, limits: Limits): OpenObject {
  let header: unknown;
  try {
    header = parseJson(bytes, { maxDepth: limits.maxJsonDepth });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw fault(
      error.fault === "duplicate" ? "duplicate_json_member" : "invalid_header",
      `the header: ${error.message}`,
    );
  }
  if (isObject(header)) return header;
  throw fault("invalid_header", "the header must be one JSON object");
}
