/** Large answers, made as they are taken, and counted until they are sent. @module */

/** A large text, of which a piece is made when it is taken. */
export interface TextPieces {
  /** The pieces, gone through once; none ends within a character. */
  readonly pieces: Iterable<string>;
  /** Bytes that are held until the last piece is taken. */
  readonly heldBytes: number;
  /** Bytes of all pieces, where that is known before they are made. */
  readonly length?: number;
}

/** What {@linkcode sendAnswer} needs. */
export interface SendOptions {
  /**
   * Milliseconds in which something of the answer must be taken; the whole must
   * be in four times as many.
   */
  readonly timeoutMs: number;
  /** Told of bytes before they are held; may throw to refuse them. */
  readonly hold: (bytes: number) => void;
  /** Told of bytes that are held no more. */
  readonly release: (bytes: number) => void;
}

/** Characters that are sent at once. */
const CHUNK_LENGTH = 64 * 1024;
/** How often a timeout is looked at whether something was taken. */
const LOOKS = 2;
const MAX_LOOKS = 4 * LOOKS;

const encoder = new TextEncoder();

/**
 * Makes the body of an answer from its text, or from bytes. A server that is given a text
 * keeps it until the client has read it, for as long as the client likes, and
 * its bytes as well; of this one a piece is made when it is taken, and it is
 * cut off (which the client sees: its end is missing) when the client doesn't
 * read on. What is sent, or never will be, counts no more.
 *
 * @example
 * ```ts
 * import { sendAnswer } from "./send_answer.ts";
 * import { assertEquals } from "@std/assert";
 *
 * let held = 0;
 * const body = sendAnswer({ pieces: ["é", "!"], heldBytes: 3 }, {
 *   timeoutMs: 1_000,
 *   hold: (bytes) => void (held += bytes),
 *   release: (bytes) => void (held -= bytes),
 * });
 * assertEquals(held, 3);
 * assertEquals(await new Response(body).text(), "é!");
 * assertEquals(held, 0);
 * ```
 *
 * @throws what `hold` throws; then nothing is held.
 */
export function sendAnswer(
  body: TextPieces | Uint8Array<ArrayBuffer>,
  { timeoutMs, hold, release }: SendOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const heldBytes = body instanceof Uint8Array ? body.length : body.heldBytes;
  hold(heldBytes);
  // Let go when it is over: the stream itself may stay longer.
  let chunks: Iterator<Uint8Array<ArrayBuffer>> | undefined = bytesOf(body);
  let taken = 0;
  let looks = 0;
  let seen = -1;
  let timer: ReturnType<typeof setInterval>;

  const stop = () => {
    clearInterval(timer);
    if (chunks !== undefined) release(heldBytes);
    chunks = undefined;
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      timer = setInterval(() => {
        looks++;
        if (taken !== seen && looks < MAX_LOOKS) {
          seen = taken;
          return;
        }
        stop();
        controller.error(new Error("Cannot answer: the client does not read"));
      }, timeoutMs / LOOKS);
    },
    pull(controller) {
      try {
        const { done, value } = chunks!.next();
        if (done) {
          stop();
          controller.close();
        } else {
          taken++;
          controller.enqueue(value);
        }
      } catch (error) {
        stop();
        throw error;
      }
    },
    cancel: stop,
  }, { highWaterMark: 0 });
}

/**
 * Characters up to which an answer is handed to the server as a text, which is
 * faster than all else: as much is held for each connection anyway.
 */
const SMALL_LENGTH = 4096;

/** A text where an answer is small, pieces where it is large. */
export function bySize(body: string | TextPieces): string | TextPieces {
  if (typeof body === "string") {
    return body.length <= SMALL_LENGTH ? body : piecesOf(body);
  }
  return body.heldBytes <= SMALL_LENGTH
    ? Array.from(body.pieces).join("")
    : body;
}

/** A text that is there already, with its length. */
export function piecesOf(text: string): TextPieces {
  let length = 0;
  for (const chunk of inChunks([text])) {
    length += encoder.encodeInto(chunk, scratch).written;
  }
  return { pieces: [text], heldBytes: heldBytesOf(text), length };
}

/** Three bytes a code unit at most. */
const scratch = new Uint8Array(3 * CHUNK_LENGTH);

/** What a text takes in memory: a byte a character where all are Latin-1. */
export function heldBytesOf(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? 2 * text.length : text.length;
}

/** What is sent, a chunk at a time. */
function* bytesOf(
  body: TextPieces | Uint8Array<ArrayBuffer>,
): Generator<Uint8Array<ArrayBuffer>> {
  if (!(body instanceof Uint8Array)) {
    for (const text of inChunks(body.pieces)) yield encoder.encode(text);
    return;
  }
  for (let at = 0; at < body.length; at += CHUNK_LENGTH) {
    yield body.subarray(at, at + CHUNK_LENGTH);
  }
}

/** The same text in pieces that are neither very short nor very long. */
function* inChunks(pieces: Iterable<string>): Generator<string> {
  let short: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    if (length + piece.length > CHUNK_LENGTH && length > 0) {
      yield short.join("");
      short = [];
      length = 0;
    }
    let at = 0;
    while (piece.length - at > CHUNK_LENGTH) {
      const end = endOfChunk(piece, at);
      yield piece.slice(at, end);
      at = end;
    }
    short.push(piece.slice(at));
    length += piece.length - at;
  }
  if (length > 0) yield short.join("");
}

/** Not between the two halves of a character. */
function endOfChunk(text: string, start: number): number {
  const end = start + CHUNK_LENGTH;
  const isHigh = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHigh ? end - 1 : end;
}
