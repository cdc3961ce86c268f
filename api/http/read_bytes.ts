/** A request's body as bytes, within limits. @module */

import { SigError } from "@sig/core";
import type { RequestBudget } from "./limits.ts";

/**
 * Announced lengths up to this one are believed; also the first buffer. They are
 * not counted in bytes: as many bodies as may be arriving are little.
 */
const SMALL_BYTES = 16 * 1024;

/**
 * Chunks of a body without a length that are there when they are asked for. Those
 * pile up in Deno's server: with each chunk that it hands out it takes another 64
 * KiB from the connection and moves all that it holds, so that the cost grows by
 * the square of their number. Four clients that sent 600 bytes at a time kept
 * everybody waiting for minutes.
 */
const MAX_READY_CHUNKS = 256;
/** All chunks of such a body: so many, and one more for each 512 bytes. */
const MIN_CHUNKS = 256;
const BYTES_A_CHUNK = 512;
/** Ready chunks behind which little has piled up. */
const FEW_CHUNKS = 2;

/** Chunks that are read before other requests get a turn. */
const CHUNKS_A_TURN = 64;

/**
 * Milliseconds until a refused body is left: before the refusal is sent, Deno
 * would take all chunks that have come apart and do nothing else.
 */
const LEAVE_MS = 1_000;

/**
 * Reads a request's body to its end. What arrives is counted, not what was
 * announced: an announcement costs a client nothing.
 *
 * @throws {SigError} `body_too_large`, `request_timeout`, `overloaded`, and
 * `invalid_request` where the client went away.
 */
export async function readBytes(
  request: Request,
  maxBytes: number,
  budget: RequestBudget,
): Promise<Uint8Array> {
  const announced = request.headers.get("content-length") ?? "";
  const length = /^\d{1,15}$/.test(announced) ? Number(announced) : undefined;
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
  if (length !== undefined && length <= SMALL_BYTES) {
    const bytes = await readSmall(request, budget);
    // No server that counts lets this happen.
    if (bytes.length > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  }
  const { body } = request;
  if (body === null) return new Uint8Array();
  return await budget.receive(() =>
    readChunks(body, maxBytes, length !== undefined, budget)
  );
}

/**
 * Much faster than a stream, which is why `body` is not even looked at. It
 * can't be broken off: at most the announced length is left to come.
 */
async function readSmall(
  request: Request,
  budget: RequestBudget,
): Promise<Uint8Array> {
  const reading = request.bytes();
  // A small body has mostly come with its headers, and a timer would cost more.
  return await atOnce(reading) ?? await budget.receive(async () => {
    const late = deadline(budget);
    return await Promise.race([interrupted(reading), late.promise])
      .finally(late.clear);
  });
}

/** Rejects when a body must have arrived, unless it is cleared before. */
function deadline({ capacity: { bodyTimeoutMs } }: RequestBudget) {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const timer = setTimeout(
    () => reject(timedOut(bodyTimeoutMs)),
    bodyTimeoutMs,
  );
  return { promise, clear: () => clearTimeout(timer) };
}

/** What has come already is there in a few turns of the microtask queue. */
async function atOnce<T>(promise: Promise<T>): Promise<T | undefined> {
  let given: T | undefined;
  promise.then((value) => given = value, () => {});
  for (let turn = 0; given === undefined && turn < 8; turn++) await turn;
  return given;
}

/**
 * Reads chunk by chunk.
 *
 * @param isAnnounced Whether its length was: then all that has come is one chunk,
 * however it was sent.
 */
async function readChunks(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  isAnnounced: boolean,
  budget: RequestBudget,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const late = deadline(budget);
  let bytes = new Uint8Array();
  let used = 0;
  let readyChunks = 0;
  try {
    for (let chunks = 1;; chunks++) {
      const reading = interrupted(reader.read());
      const ready = await atOnce(reading);
      if (ready !== undefined && !isAnnounced) readyChunks++;
      const { value } = ready ?? await Promise.race([reading, late.promise]);
      if (value === undefined) return bytes.subarray(0, used);
      const needed = used + value.length;
      if (needed > maxBytes) throw tooLarge(maxBytes);
      if (
        readyChunks > MAX_READY_CHUNKS ||
        !isAnnounced && chunks > MIN_CHUNKS + needed / BYTES_A_CHUNK
      ) throw tooManyChunks();
      if (needed > bytes.length) {
        const roomy = Math.max(needed, 2 * bytes.length, SMALL_BYTES);
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
    late.clear();
  }
}

/** A client that goes away is not an internal error. */
async function interrupted<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new SigError("invalid_request", "Cannot read body: it broke off", {
      cause,
    });
  }
}

function tooLarge(limit: number): SigError {
  return new SigError(
    "body_too_large",
    `Cannot read body: it is larger than ${limit} bytes`,
    { context: { limit } },
  );
}

function tooManyChunks(): SigError {
  return new SigError(
    "body_too_large",
    "Cannot read body: it comes in too many small chunks",
    {
      context: {
        hint: "Send it with content-length, or in chunks of 64 KiB.",
      },
    },
  );
}

function timedOut(timeoutMs: number): SigError {
  return new SigError(
    "request_timeout",
    `Cannot read body: it did not come within ${timeoutMs / 1000} s`,
    { context: { limit: timeoutMs } },
  );
}
