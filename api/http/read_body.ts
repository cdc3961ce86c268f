/** A request's body as bytes, within limits (SECURITY §5). @module */

import { SigError } from "@sig/core";

/** How much a body may take. */
export interface BodyLimits {
  /** Bytes at most. */
  readonly maxBytes: number;
  /** Milliseconds until the last byte must be there. */
  readonly timeoutMs: number;
  /**
   * Told of bytes before they are held, where they are many; may throw to refuse
   * them.
   */
  readonly reserve: (bytes: number) => void;
  /**
   * Told that the body is on the way, unless it is there at once; what it
   * returns, that it has come or never will. May throw to refuse to wait.
   */
  readonly awaitBody: () => () => void;
}

/**
 * Announced lengths up to this one are believed; also the first buffer. They are
 * not counted in bytes: as many bodies as may be on the way are little.
 */
const SMALL_BYTES = 16 * 1024;

/**
 * Reads a body to its end. What was read is counted, not what was announced:
 * an announcement costs a client nothing, and must not use up what the service
 * may hold. When the time is over, nothing more is read.
 *
 * @example
 * ```ts
 * import { readBody } from "./read_body.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const request = new Request("http://127.0.0.1/", {
 *   method: "POST",
 *   body: "{}",
 * });
 * const limits = {
 *   maxBytes: 2,
 *   timeoutMs: 1_000,
 *   reserve() {},
 *   awaitBody: () => () => {},
 * };
 * assertEquals((await readBody(request, limits)).length, 2);
 * ```
 *
 * @throws {SigError} `body_too_large`, `request_timeout`, `invalid_request`
 * where the client went away, and what `reserve` and `awaitBody` throw.
 */
export function readBody(
  request: Request,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const announced = request.headers.get("content-length") ?? "";
  const length = /^\d{1,15}$/.test(announced) ? Number(announced) : undefined;
  if (length !== undefined && length > limits.maxBytes) {
    return Promise.reject(tooLarge(limits.maxBytes));
  }
  return length !== undefined && length <= SMALL_BYTES
    ? readAtOnce(request, limits)
    : readStream(request, limits);
}

async function readStream(
  request: Request,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const { body } = request;
  if (body === null) return new Uint8Array();
  const arrived = limits.awaitBody();
  try {
    return await readCounted(body, limits);
  } finally {
    arrived();
  }
}

/**
 * Much faster than a stream, which is why `body` is not even looked at. It
 * can't be broken off: when the time is over, up to `length` bytes are left to
 * come, which is little.
 */
async function readAtOnce(
  request: Request,
  { maxBytes, timeoutMs, awaitBody }: BodyLimits,
): Promise<Uint8Array> {
  let bytes: Uint8Array | undefined;
  const reading = request.bytes();
  reading.then((all) => bytes = all, () => {});
  // A small body has mostly come with its headers, and is there in a few turns
  // of the microtask queue; a timer would cost more than reading it.
  for (let turn = 0; bytes === undefined && turn < TURNS; turn++) await turn;
  if (bytes === undefined) {
    const arrived = awaitBody();
    try {
      bytes = await readInTime(interrupted(reading), timeoutMs);
    } finally {
      arrived();
    }
  }
  // No server that counts lets this happen.
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

/** Turns of the microtask queue that a body which is there takes at most. */
const TURNS = 8;

async function readInTime(
  reading: Promise<Uint8Array>,
  timeoutMs: number,
): Promise<Uint8Array> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Chunks of a body at most, beside one for each {@linkcode BYTES_A_CHUNK} bytes,
 * which is less than a packet of a slow network. A chunk of one byte takes six of
 * a connection, and as long as one of 64 KiB: four clients that sent nothing else
 * kept everybody waiting for minutes.
 */
const MAX_CHUNKS = 256;
const BYTES_A_CHUNK = 512;
/** Milliseconds until the refusal of such a body is sent for certain. */
const LEAVE_MS = 1_000;

/**
 * Chunks that are read before others are let in: what has come already is read
 * without a turn of the event loop, and the timer gets none either.
 */
const CHUNKS_A_TURN = 256;

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** What a body is read by. */
interface Chunks {
  /** The next chunk; it is good until the one after it is asked for. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>;
  /** Nothing more is wanted. */
  cancel(): Promise<void>;
}

/**
 * A body chunk by chunk, each into the same buffer. Deno else makes 64 KiB for
 * each of them, though a byte may be all that it is.
 */
function chunksOf(body: ReadableStream<Uint8Array>): Chunks {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    // A stream of somebody's own, whose chunks are as they are.
    return body.getReader() as Chunks;
  }
  let buffer = new ArrayBuffer(SMALL_BYTES);
  return {
    async read() {
      const result = await reader.read(new Uint8Array(buffer));
      buffer = result.value?.buffer ?? buffer;
      return result as { done: boolean; value?: Uint8Array };
    },
    cancel: () => reader.cancel(),
  };
}

async function readCounted(
  body: ReadableStream<Uint8Array>,
  { maxBytes, timeoutMs, reserve }: BodyLimits,
): Promise<Uint8Array> {
  const reader = chunksOf(body);
  let isLate = false;
  let isLeft = false;
  const cancel = () => reader.cancel().catch(() => {});
  const timer = setTimeout(() => {
    isLate = true;
    cancel();
  }, timeoutMs);
  // Chunks are copied: the next one comes into the same place.
  let bytes = new Uint8Array();
  let used = 0;
  try {
    for (let chunks = 1;; chunks++) {
      if (chunks % CHUNKS_A_TURN === 0) await nextTurn();
      const { done, value } = await interrupted(reader.read());
      if (isLate) throw timedOut(timeoutMs);
      if (done || value === undefined) return bytes.subarray(0, used);
      const needed = used + value.length;
      if (needed > maxBytes) throw tooLarge(maxBytes);
      isLeft = chunks > MAX_CHUNKS + needed / BYTES_A_CHUNK;
      if (isLeft) throw tooManyChunks();
      if (needed > bytes.length) {
        const roomy = Math.max(needed, 2 * bytes.length, SMALL_BYTES);
        const capacity = Math.min(roomy, maxBytes);
        reserve(capacity - bytes.length);
        bytes = new Uint8Array(bytes.buffer.transfer(capacity));
      }
      bytes.set(value, used);
      used = needed;
    }
  } catch (error) {
    // Before the refusal is sent, Deno would take all that is left apart, chunk
    // by chunk, and do nothing else; what nobody takes, the client can't send.
    if (isLeft) setTimeout(cancel, LEAVE_MS);
    else cancel();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A client that goes away is no failure of ours. */
async function interrupted<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new SigError(
      "invalid_request",
      "Cannot read body: it broke off",
      { cause },
    );
  }
}

function tooManyChunks(): SigError {
  return new SigError(
    "body_too_large",
    `Cannot read body: it comes in more than ${MAX_CHUNKS} chunks, beside one for each ${BYTES_A_CHUNK} bytes`,
    {
      context: {
        limit: MAX_CHUNKS,
        hint: "Send it with content-length, or in larger chunks.",
      },
    },
  );
}

function tooLarge(limit: number): SigError {
  return new SigError(
    "body_too_large",
    `Cannot read body: it is larger than ${limit} bytes`,
    { context: { limit } },
  );
}

function timedOut(timeoutMs: number): SigError {
  return new SigError(
    "request_timeout",
    `Cannot read body: it did not come within ${timeoutMs / 1000} s`,
    { context: { limit: timeoutMs } },
  );
}
