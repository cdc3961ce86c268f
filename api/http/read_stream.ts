/** A body chunk by chunk, within limits (SECURITY §5). @module */

import { SigError } from "@sig/core";
import {
  atOnce,
  type BodyLimits,
  interrupted,
  SMALL_BYTES,
  timedOut,
  tooLarge,
} from "./body_limits.ts";
import { ChunkBacklog, READ_BYTES } from "./chunk_backlog.ts";

/**
 * Chunks that are read before others are let in: what has come already is read
 * without a turn of the event loop, and the timer gets none either.
 */
const CHUNKS_A_TURN = 64;

/** What piles up unread before it is counted: it soon comes to more, or to nothing. */
const UNCOUNTED_BYTES = 1024 * 1024;

/** Unread bytes that are soon taken apart, were they chunks of one byte. */
const LITTLE_BYTES = 2 * READ_BYTES;

/** Milliseconds until the refusal of a body that is left alone is sent for certain. */
const LEAVE_MS = 1_000;

/**
 * Reads a stream to its end, or as far as is allowed.
 *
 * @param isAnnounced Whether the length was: then all that has come is one chunk,
 * however it was sent.
 * @throws {SigError} as `readBody`.
 */
export async function readStream(
  body: ReadableStream<Uint8Array>,
  { maxBytes, timeoutMs, reserve }: BodyLimits,
  isAnnounced: boolean,
): Promise<Uint8Array> {
  const chunks = chunksOf(body);
  const backlog = new ChunkBacklog();
  let isLate = false;
  let stopWaiting = () => {};
  const timer = setTimeout(() => {
    isLate = true;
    stopWaiting();
  }, timeoutMs);
  // Chunks are copied: the next one comes into the same place.
  let bytes = new Uint8Array();
  let used = 0;
  let counted = 0;
  try {
    for (let read = 1;; read++) {
      if (read % CHUNKS_A_TURN === 0) await nextTurn();
      const { chunk, hadToWait } = await nextOf(
        chunks,
        (stop) => stopWaiting = stop,
      );
      if (isLate) throw timedOut(timeoutMs);
      if (chunk === undefined) return bytes.subarray(0, used);
      const needed = used + chunk.length;
      if (needed > maxBytes) throw tooLarge(maxBytes);
      if (!isAnnounced) {
        backlog.took(chunk.length, hadToWait);
        if (backlog.isTooMuch) throw tooManyChunks();
        const more = backlog.bytes - counted;
        if (more > UNCOUNTED_BYTES) {
          reserve(more);
          counted += more;
        }
      }
      if (needed > bytes.length) {
        const roomy = Math.max(needed, 2 * bytes.length, SMALL_BYTES);
        const capacity = Math.min(roomy, maxBytes);
        reserve(capacity - bytes.length);
        bytes = new Uint8Array(bytes.buffer.transfer(capacity));
      }
      bytes.set(chunk, used);
      used = needed;
    }
  } catch (error) {
    const cancel = () => void chunks.cancel().catch(() => {});
    // Before the refusal is sent, Deno would take all that is left apart, chunk
    // by chunk, and do nothing else; what nobody takes, the client can't send.
    if (backlog.bytes <= LITTLE_BYTES) cancel();
    else setTimeout(cancel, LEAVE_MS);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

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
  let buffer = new ArrayBuffer(READ_BYTES);
  return {
    async read() {
      const result = await reader.read(new Uint8Array(buffer));
      buffer = result.value?.buffer ?? buffer;
      return result as { done: boolean; value?: Uint8Array };
    },
    cancel: () => reader.cancel(),
  };
}

type Read = Awaited<ReturnType<Chunks["read"]>>;

/** The next chunk, if there is one, and whether it had come already. */
async function nextOf(
  chunks: Chunks,
  onWait: (stop: () => void) => void,
): Promise<{ readonly chunk: Uint8Array | undefined; hadToWait: boolean }> {
  const reading = chunks.read();
  let result = await atOnce(reading);
  const hadToWait = result === undefined;
  result ??= await interrupted(
    new Promise<Read>((resolve, reject) => {
      onWait(() => resolve({ done: true }));
      reading.then(resolve, reject);
    }),
  );
  return { chunk: result.done ? undefined : result.value, hadToWait };
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
