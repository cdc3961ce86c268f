/** A request's body as bytes, within limits (SECURITY §5). @module */

import {
  atOnce,
  type BodyLimits,
  interrupted,
  SMALL_BYTES,
  timedOut,
  tooLarge,
} from "./body_limits.ts";
import { readStream } from "./read_stream.ts";

export type { BodyLimits } from "./body_limits.ts";

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
    : readCounted(request, limits, length !== undefined);
}

async function readCounted(
  { body }: Request,
  limits: BodyLimits,
  isAnnounced: boolean,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const arrived = limits.awaitBody();
  try {
    return await readStream(body, limits, isAnnounced);
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
  const reading = request.bytes();
  // A small body has mostly come with its headers.
  let bytes = await atOnce<Uint8Array>(reading);
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
