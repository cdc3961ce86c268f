/** Large answers, counted until they are sent. @module */

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

/** An answer on its way. */
export interface SentAnswer {
  /** What is sent. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** How many bytes it has. */
  readonly bytes: number;
}

/** Characters that are sent at once. */
const CHUNK_LENGTH = 64 * 1024;
/** How often a timeout is looked at whether something was taken. */
const LOOKS = 2;
const MAX_LOOKS = 4 * LOOKS;

const encoder = new TextEncoder();

/**
 * Makes the body of an answer from its text. A server that is given a text
 * keeps it until the client has read it, for as long as the client likes; this
 * one is handed out piece by piece as it is taken, and is cut off (which the
 * client sees: it is shorter than its length says) when the client doesn't read
 * on. What was handed out, or never will be, counts no more.
 *
 * @example
 * ```ts
 * import { sendAnswer } from "./send_answer.ts";
 * import { assertEquals } from "@std/assert";
 *
 * let held = 0;
 * const answer = sendAnswer("é", {
 *   timeoutMs: 1_000,
 *   hold: (bytes) => void (held += bytes),
 *   release: (bytes) => void (held -= bytes),
 * });
 * assertEquals([answer.bytes, held], [2, 2]);
 * assertEquals(await new Response(answer.body).text(), "é");
 * assertEquals(held, 0);
 * ```
 *
 * @throws what `hold` throws; then nothing is held.
 */
export function sendAnswer(
  text: string,
  options: SendOptions,
): SentAnswer {
  const { chunks, bytes } = encodeHeld(text, options);
  let next = 0;
  let looks = 0;
  let seen = -1;
  let stop: () => void;

  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const timer = setInterval(() => {
        looks++;
        if (next !== seen && looks < MAX_LOOKS) {
          seen = next;
          return;
        }
        stop();
        controller.error(new Error("Cannot answer: the client does not read"));
      }, options.timeoutMs / LOOKS);
      stop = () => {
        clearInterval(timer);
        for (; next < chunks.length; next++) drop();
      };
    },
    pull(controller) {
      controller.enqueue(chunks[next]!);
      drop();
      next++;
      if (next < chunks.length) return;
      stop();
      controller.close();
    },
    cancel: () => stop(),
  }, { highWaterMark: 0 });

  const drop = () => {
    options.release(chunks[next]!.length);
    // For the memory: the array stays as long as the stream.
    chunks[next] = NOTHING;
  };
  return { body, bytes };
}

const NOTHING = new Uint8Array();

function encodeHeld(text: string, { hold, release }: SendOptions) {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  try {
    for (let at = 0; at < text.length;) {
      const end = endOfChunk(text, at);
      const chunk = encoder.encode(text.slice(at, end));
      hold(chunk.length);
      chunks.push(chunk);
      bytes += chunk.length;
      at = end;
    }
  } catch (error) {
    release(bytes);
    throw error;
  }
  return { chunks, bytes };
}

/** Not between the two halves of a character. */
function endOfChunk(text: string, start: number): number {
  const end = start + CHUNK_LENGTH;
  if (end >= text.length) return text.length;
  const isHigh = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHigh ? end - 1 : end;
}
