/** One request and how it is answered. @module */

import { type Problem, toProblem } from "@sig/core";
import { problemHeaders } from "./problem_headers.ts";
import { readFormBody } from "./read_form_body.ts";
import {
  type BodyReader,
  type JsonBodyLimits,
  readJsonBody,
  readKnownBody,
} from "./read_json_body.ts";
import type { RequestFlow } from "./request_flow.ts";
import {
  bySize,
  piecesOf,
  sendAnswer,
  type TextPieces,
} from "./send_answer.ts";

const NONE = Object.freeze([]);
const NO_TYPE = Object.freeze({});

/** Seconds after which a refusal that names no time is worth another try. */
const RETRY_AFTER_SECONDS = 5;

/** What is no page loads nothing, and stands in no frame, if shown as one. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** What a response is, beside its body. */
export interface ReplyOptions {
  /** 200 unless told. */
  readonly status?: number;
  /** The media type; none for a response without content. */
  readonly type?: string;
  /** Further headers. */
  readonly headers?: readonly (readonly [string, string])[];
}

/** What an exchange needs of its service. */
export interface ExchangeContext {
  /** The request's name. */
  readonly requestId: string;
  /** Headers of every response to this request, such as those of CORS. */
  readonly headers: readonly (readonly [string, string])[];
  /** Milliseconds until a body must be there. */
  readonly bodyTimeoutMs: number;
  /** Milliseconds in which something of a large answer must be taken. */
  readonly sendTimeoutMs: number;
  /** What the request takes of the service. */
  readonly flow: RequestFlow;
}

/**
 * A request in progress. Its replies begin with their media type and get the
 * other headers one by one: a list of all costs the constructor five times that.
 */
export class Exchange {
  /** The request. */
  readonly request: Request;
  /** The client's `X-Request-ID`, or a fresh one. */
  readonly requestId: string;
  /** What was answered, when it was a problem. */
  problem: Problem | undefined;
  /** What was thrown, when that was not meant to happen; for the log. */
  thrown: unknown;
  readonly #context: ExchangeContext;
  #isBodyOnItsWay = false;

  /** The client's network, as rate limits and shares count it. */
  get client(): string {
    return this.#context.flow.client;
  }

  /** Begins it. */
  constructor(request: Request, context: ExchangeContext) {
    this.request = request;
    this.requestId = context.requestId;
    this.#context = context;
  }

  /**
   * The body as strict JSON. When it is there, the request takes a place.
   *
   * @param maxBytes Bytes at most.
   * @param breathe Awaited between slices of parsing a large one.
   * @throws {SigError} `unsupported_media_type`, `body_too_large`,
   * `request_timeout`, `invalid_json`, `overloaded`.
   */
  async readJson(
    maxBytes: number,
    breathe?: () => Promise<void>,
  ): Promise<unknown> {
    const limits = this.#awaitBody(maxBytes);
    return await readJsonBody(this.request, limits, breathe);
  }

  /**
   * {@linkcode readJson} and what the body says, read once for equal bodies.
   *
   * @throws {SigError} as {@linkcode readJson} and the reader.
   */
  readKnown<T extends object>(
    maxBytes: number,
    reader: BodyReader<T>,
    breathe?: () => Promise<void>,
  ): Promise<T> {
    const limits = this.#awaitBody(maxBytes);
    return readKnownBody(this.request, limits, reader, breathe);
  }

  /**
   * The body as the fields of a form. When it is there, the request takes a
   * place.
   *
   * @param maxBytes Bytes at most.
   * @throws {SigError} `unsupported_media_type`, `body_too_large`,
   * `request_timeout`, `invalid_request`, `overloaded`.
   */
  async readForm(maxBytes: number): Promise<URLSearchParams> {
    return await readFormBody(this.request, this.#awaitBody(maxBytes));
  }

  #awaitBody(maxBytes: number): JsonBodyLimits {
    const { flow, bodyTimeoutMs } = this.#context;
    this.#isBodyOnItsWay = true;
    return {
      maxBytes,
      timeoutMs: bodyTimeoutMs,
      reserve: (bytes) => flow.reserve(bytes),
      awaitBody: () => flow.awaitBody(),
      onArrival: () => {
        this.#isBodyOnItsWay = false;
        flow.enter();
      },
    };
  }

  /**
   * Counts bytes of the answer that are about to be held.
   *
   * @throws {SigError} `overloaded` when all requests hold too much.
   */
  reserve(bytes: number): void {
    this.#context.flow.reserveAnswer(bytes);
  }

  /**
   * Waits for somebody else's answer without holding a place, so that one who is
   * silent holds up only those who ask for the same.
   *
   * @param other Who is waited for, such as an issuer's DID.
   * @param eachClient How many of one client may wait for it, where clients
   * choose what stands behind the name.
   * @throws {SigError} `overloaded` before the work begins, and what it throws.
   */
  waitFor<T>(
    other: string,
    work: () => Promise<T>,
    eachClient?: number,
  ): Promise<T> {
    return this.#context.flow.waitFor(other, work, eachClient);
  }

  /**
   * A response; nothing of it is kept by caches unless its headers say so. A
   * large one is counted until it is sent, and cut off when it is not read; one
   * in pieces is made while it is sent.
   *
   * @throws {SigError} `overloaded` when too much waits to be sent.
   */
  reply(
    body: string | TextPieces | Uint8Array<ArrayBuffer> | null,
    options: ReplyOptions,
  ): Response {
    const { status = 200, type, headers = NONE } = options;
    const isHead = this.request.method === "HEAD";
    const sized = body === null || body instanceof Uint8Array
      ? body
      : bySize(body);
    const isLarge = sized !== null && typeof sized !== "string";
    const sent = isHead ? null : isLarge ? this.#send(sized) : sized;
    const response = new Response(sent, {
      status,
      headers: type === undefined ? NO_TYPE : { "content-type": type },
    });
    const all = response.headers;
    all.append("x-request-id", this.requestId);
    all.append("x-content-type-options", "nosniff");
    for (const [name, value] of this.#context.headers) all.append(name, value);
    let isCacheable = false;
    let hasPolicy = false;
    for (const [name, value] of headers) {
      isCacheable ||= name === "cache-control";
      hasPolicy ||= name === "content-security-policy";
      all.append(name, value);
    }
    if (!isCacheable) all.append("cache-control", "no-store");
    if (!hasPolicy) all.append("content-security-policy", NO_CONTENT_POLICY);
    if ((status === 429 || status === 503) && !all.has("retry-after")) {
      all.append("retry-after", String(RETRY_AFTER_SECONDS));
    }
    // To HEAD what the body's length would be, not 0 (RFC 9110 §8.6).
    const length = isLarge
      ? sized.length
      : isHead && sized !== null
      ? piecesOf(sized).length
      : undefined;
    if (length !== undefined) all.append("content-length", String(length));
    return response;
  }

  /**
   * A JSON value.
   *
   * @throws {TypeError} for what is none, such as `undefined`.
   */
  json(value: unknown): Response {
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) {
      throw new TypeError("Cannot answer: the value must be JSON");
    }
    return this.reply(text, { type: "application/json" });
  }

  /**
   * An error as problem details (RFC 9457), with the request's name. What is no
   * `SigError` becomes `internal`, and nothing of it is told.
   */
  refuse(error: unknown): Response {
    try {
      return this.#tell(error);
    } catch (fault) {
      // Its context was no JSON, or could not stand in a header.
      return this.#tell(fault);
    }
  }

  #send(
    body: TextPieces | Uint8Array<ArrayBuffer>,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { flow, sendTimeoutMs } = this.#context;
    return sendAnswer(body, {
      timeoutMs: sendTimeoutMs,
      hold: (bytes) => flow.hold(bytes),
      release: (bytes) => flow.release(bytes),
    });
  }

  #tell(error: unknown): Response {
    const problem = toProblem(error);
    const { type, title, status, detail, ...rest } = problem;
    const instance = this.requestId;
    const body = { type, title, status, detail, ...rest, instance };
    const headers = problemHeaders(problem);
    // Who is sent away for want of room is not read on from either.
    if (this.#isBodyOnItsWay && problem.code === "overloaded") {
      headers.push(["connection", "close"]);
    }
    const response = this.reply(JSON.stringify(body), {
      status,
      type: "application/problem+json",
      headers,
    });
    this.problem = problem;
    if (problem.code === "internal") this.thrown = error;
    return response;
  }
}
