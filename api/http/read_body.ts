/**
 * Reads a request's body within limits, as strict JSON or as a form.
 *
 * @module
 */

import { JsonError, parseJson, SigError } from "@sig/core";
import type { Context } from "hono";
import { budgetOf, type RequestBudget } from "./limits.ts";

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
  return await parseJsonBody(c, await readJsonBytes(c, { maxBytes }));
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
  const bytes = await readBytes(c.req.raw, maxBytes, budgetOf(c));
  return await parseJsonBody(c, bytes);
}

/** What is required of a JSON body. */
export interface JsonBody {
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /**
   * Whether another content type is `invalid_request` (AuthZEN 1.0 §10.1.2)
   * instead of `unsupported_media_type`.
   */
  readonly otherTypeIsInvalid?: true;
}

/**
 * Returns the bytes of a JSON body.
 *
 * @throws {SigError} as {@linkcode readJson}.
 */
export async function readJsonBytes(
  c: Context,
  { maxBytes, otherTypeIsInvalid }: JsonBody,
): Promise<Uint8Array> {
  const { headers } = c.req.raw;
  const type = headers.get("content-type") ?? "";
  // Fast path: most clients send exactly this.
  const isJson = type === "application/json" ||
    JSON_TYPE.test(type) && !OTHER_CHARSET.test(type);
  const code = otherTypeIsInvalid && "invalid_request";
  if (!isJson) {
    throw unsupported(
      "it must be application/json in UTF-8",
      "Send the header content-type: application/json.",
      code,
    );
  }
  if (isEncoded(headers)) {
    throw unsupported(
      "it must not be compressed",
      "Send it without content-encoding.",
      code,
    );
  }
  return await readBytes(c.req.raw, maxBytes, budgetOf(c));
}

/**
 * Parses a body's bytes as strict JSON.
 *
 * @throws {SigError} `invalid_json` with the place of the fault.
 */
export async function parseJsonBody(
  c: Context,
  bytes: Uint8Array,
): Promise<unknown> {
  const isLarge = bytes.length > PARSED_AT_ONCE_BYTES;
  // Many bodies may arrive at once; health checks are answered between them.
  if (isLarge) await budgetOf(c).capacity.yieldToEventLoop();
  try {
    // A small body can't have too many values, and is parsed faster uncounted.
    return parseJson(bytes, isLarge ? { maxValues: MAX_VALUES } : {});
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
  const bytes = await readBytes(c.req.raw, MAX_FORM_BYTES, budgetOf(c));
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

function isEncoded(headers: Headers): boolean {
  const encoding = headers.get("content-encoding");
  return encoding !== null && encoding.toLowerCase() !== "identity";
}

function unsupported(
  why: string,
  hint: string,
  code: "invalid_request" | "unsupported_media_type" = "unsupported_media_type",
): SigError {
  return new SigError(code, {
    action: "read body",
    reason: why,
    context: { hint },
  });
}

/**
 * Maximum `content-length` that is trusted, in bytes; also the size of the
 * first buffer. Such bodies don't count as held bytes: their number is limited,
 * so their total is small.
 */
const TRUSTED_BYTES = 16 * 1024;

/**
 * Maximum number of chunks that are ready when read, in a body without a
 * length. Such chunks pile up in Deno's server: for each chunk that it returns,
 * it reads another 64 KiB from the connection and moves everything it holds, so
 * the cost grows with the square of their number. Four clients that sent 600
 * bytes at a time blocked the server for minutes.
 */
const MAX_READY_CHUNKS = 256;
/**
 * Maximum number of all chunks of such a body: this number, and one more for
 * each 512 bytes.
 */
const MIN_CHUNKS = 256;
const BYTES_A_CHUNK = 512;
/** The number of ready chunks up to which few have piled up. */
const FEW_CHUNKS = 2;

/** Chunks that are read before yielding to other requests. */
const CHUNKS_A_TURN = 64;

/**
 * Delay in milliseconds before a rejected body is cancelled: before it sends
 * the response, Deno would otherwise read all chunks that have piled up and do
 * nothing else.
 */
const LEAVE_MS = 1_000;

/**
 * Reads a request's body to its end; the request then takes a slot. Counts the
 * bytes that arrive rather than those announced, since a large `content-length`
 * costs a client nothing.
 *
 * @throws {SigError} `body_too_large`, `request_timeout`, `overloaded`, and
 * `invalid_request` if the client disconnects.
 */
export async function readBytes(
  request: Request,
  maxBytes: number,
  budget: RequestBudget,
): Promise<Uint8Array> {
  const announced = request.headers.get("content-length") ?? "";
  const length = /^\d{1,15}$/.test(announced) ? Number(announced) : undefined;
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
  let bytes: Uint8Array = new Uint8Array();
  if (length !== undefined && length <= TRUSTED_BYTES) {
    // This is much faster than a stream, so `body` is not accessed. It can't be
    // cancelled, but at most the announced length is still to arrive.
    const reading = request.bytes();
    // It mostly arrives with its headers, and a timer would cost more.
    bytes = await ifReady(reading) ??
      await budget.receive(() => inTime(reading, budget));
    // HTTP servers enforce the length; this is a second check.
    if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  } else if (request.body !== null) {
    const { body } = request;
    bytes = await budget.receive(() =>
      readChunks(body, maxBytes, length !== undefined, budget)
    );
  }
  budget.enter();
  return bytes;
}

async function inTime(
  reading: Promise<Uint8Array>,
  budget: RequestBudget,
): Promise<Uint8Array> {
  const timeout = deadline(budget);
  return await Promise.race([mapDisconnect(reading), timeout.promise])
    .finally(timeout.clear);
}

/** Rejects at the body timeout, unless cleared before. */
function deadline({ capacity: { bodyTimeoutMs } }: RequestBudget) {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const timer = setTimeout(
    () => reject(timedOut(bodyTimeoutMs)),
    bodyTimeoutMs,
  );
  return { promise, clear: () => clearTimeout(timer) };
}

/**
 * Returns the value if the promise resolves within a few microtask turns, as it
 * does for data that has already arrived.
 */
async function ifReady<T>(promise: Promise<T>): Promise<T | undefined> {
  let given: T | undefined;
  promise.then((value) => given = value, () => {});
  for (let turn = 0; given === undefined && turn < 8; turn++) await turn;
  return given;
}

/**
 * Reads chunk by chunk.
 *
 * @param isAnnounced Whether the request has a `content-length`: then
 * everything that has arrived is one chunk, however it was sent.
 */
async function readChunks(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  isAnnounced: boolean,
  budget: RequestBudget,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const timeout = deadline(budget);
  let bytes = new Uint8Array();
  let used = 0;
  let readyChunks = 0;
  try {
    for (let chunks = 1;; chunks++) {
      const reading = mapDisconnect(reader.read());
      const ready = await ifReady(reading);
      if (ready !== undefined && !isAnnounced) readyChunks++;
      const { value } = ready ?? await Promise.race([reading, timeout.promise]);
      if (value === undefined) return bytes.subarray(0, used);
      const needed = used + value.length;
      if (needed > maxBytes) throw tooLarge(maxBytes);
      if (
        readyChunks > MAX_READY_CHUNKS ||
        !isAnnounced && chunks > MIN_CHUNKS + needed / BYTES_A_CHUNK
      ) throw tooManyChunks();
      if (needed > bytes.length) {
        const roomy = Math.max(needed, 2 * bytes.length, TRUSTED_BYTES);
        const capacity = Math.min(roomy, maxBytes);
        budget.reserve(capacity - bytes.length);
        bytes = new Uint8Array(bytes.buffer.transfer(capacity));
      }
      bytes.set(value, used);
      used = needed;
      if (chunks % CHUNKS_A_TURN === 0) {
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
    }
  } catch (error) {
    const leave = () => void reader.cancel().catch(() => {});
    if (readyChunks <= FEW_CHUNKS) leave();
    else setTimeout(leave, LEAVE_MS);
    throw error;
  } finally {
    timeout.clear();
  }
}

/**
 * Turns a disconnect of the client into `invalid_request`, which is not an
 * internal error.
 */
async function mapDisconnect<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new SigError("invalid_request", {
      action: "read body",
      reason: "it broke off",
      cause,
    });
  }
}

function tooLarge(limit: number): SigError {
  return new SigError("body_too_large", {
    action: "read body",
    reason: `it is larger than ${limit} bytes`,
    context: { limit },
  });
}

function tooManyChunks(): SigError {
  return new SigError("body_too_large", {
    action: "read body",
    reason: "it comes in too many small chunks",
    context: {
      hint: "Send it with content-length, or in chunks of 64 KiB.",
    },
  });
}

function timedOut(timeoutMs: number): SigError {
  return new SigError("request_timeout", {
    action: "read body",
    reason: `it did not come within ${timeoutMs / 1000} s`,
    context: { limit: timeoutMs },
  });
}
