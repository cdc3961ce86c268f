/** A request's body as strict JSON, within limits (SECURITY §2, §5). @module */

import { JsonError, parseJson, SigError } from "@sig/core";

/** How much a body may take. */
export interface BodyLimits {
  /** Bytes at most. */
  readonly maxBytes: number;
  /** Milliseconds until the last byte must be there. */
  readonly timeoutMs: number;
  /** Told of bytes before they are held; may throw to refuse them. */
  readonly reserve: (bytes: number) => void;
}

/** `application/json`, in the one encoding that JSON has. */
const JSON_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i;

/**
 * Reads and parses a request's body. Any other type is refused, and a web page
 * of another site can't send this one without being asked about it first.
 *
 * @throws {SigError} `unsupported_media_type`, `body_too_large`,
 * `request_timeout`, `invalid_json` with the place of the fault.
 */
export async function readJsonBody(
  request: Request,
  limits: BodyLimits,
): Promise<unknown> {
  checkType(request.headers);
  const bytes = await readBody(request, limits);
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new SigError(
      "invalid_json",
      `Cannot read body: ${error.message}`,
      error.pointer === "" ? {} : { context: { pointer: error.pointer } },
    );
  }
}

function checkType(headers: Headers): void {
  const type = headers.get("content-type");
  if (type === null || !JSON_TYPE.test(type)) {
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

async function readBody(
  request: Request,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const told = request.headers.get("content-length");
  const length = told === null ? undefined : Number(told);
  if (length !== undefined && length > limits.maxBytes) {
    throw tooLarge(limits.maxBytes);
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(timedOut(limits.timeoutMs)),
      limits.timeoutMs,
    );
  });
  const reading = length !== undefined
    ? readAtOnce(request, length, limits)
    : readCounted(request.body, limits);
  // It may lose the race, and fail then.
  reading.catch(() => {});
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Where the length is told, the server reads no more than that. Much faster
 * than a stream, which is why `body` is not even looked at.
 */
async function readAtOnce(
  request: Request,
  length: number,
  limits: BodyLimits,
): Promise<Uint8Array> {
  limits.reserve(length);
  return await interrupted(request.bytes());
}

async function readCounted(
  body: ReadableStream<Uint8Array> | null,
  limits: BodyLimits,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await interrupted(reader.read());
      if (done) break;
      length += value.length;
      if (length > limits.maxBytes) throw tooLarge(limits.maxBytes);
      limits.reserve(value.length);
      chunks.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
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
