/** One request and how it is answered. @module */

import { type Problem, toProblem } from "@sig/core";
import { problemHeaders } from "./problem_headers.ts";
import { readJsonBody } from "./read_json_body.ts";

const encoder = new TextEncoder();
const NONE = Object.freeze([]);
const NO_TYPE = Object.freeze({});

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
  /** Told of bytes before they are held; throws when there are too many. */
  reserve(bytes: number): void;
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

  /** Begins it. */
  constructor(request: Request, context: ExchangeContext) {
    this.request = request;
    this.requestId = context.requestId;
    this.#context = context;
  }

  /**
   * The body as strict JSON.
   *
   * @param maxBytes Bytes at most.
   * @param breathe Awaited between slices of parsing a large one.
   * @throws {SigError} `unsupported_media_type`, `body_too_large`,
   * `request_timeout`, `invalid_json`, `overloaded`.
   */
  readJson(
    maxBytes: number,
    breathe?: () => Promise<void>,
  ): Promise<unknown> {
    return readJsonBody(this.request, {
      maxBytes,
      timeoutMs: this.#context.bodyTimeoutMs,
      reserve: (bytes) => this.#context.reserve(bytes),
    }, breathe);
  }

  /**
   * Counts bytes that are about to be held until the response is made.
   *
   * @throws {SigError} `overloaded` when all requests hold too much.
   */
  reserve(bytes: number): void {
    this.#context.reserve(bytes);
  }

  /** A response; nothing of it is kept by caches unless its headers say so. */
  reply(body: string | null, options: ReplyOptions): Response {
    const { status = 200, type, headers = NONE } = options;
    const isEmpty = body === null || this.request.method === "HEAD";
    const response = new Response(isEmpty ? null : body, {
      status,
      headers: type === undefined ? NO_TYPE : { "content-type": type },
    });
    const all = response.headers;
    all.append("x-request-id", this.requestId);
    all.append("x-content-type-options", "nosniff");
    for (const [name, value] of this.#context.headers) all.append(name, value);
    let isCacheable = false;
    for (const [name, value] of headers) {
      isCacheable ||= name === "cache-control";
      all.append(name, value);
    }
    if (!isCacheable) all.append("cache-control", "no-store");
    if (isEmpty && body !== null) {
      // What the body's length would be, not 0 (RFC 9110 §8.6).
      all.append("content-length", String(encoder.encode(body).length));
    }
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

  #tell(error: unknown): Response {
    const problem = toProblem(error);
    const { type, title, status, detail, ...rest } = problem;
    const instance = this.requestId;
    const body = { type, title, status, detail, ...rest, instance };
    const response = this.reply(JSON.stringify(body), {
      status,
      type: "application/problem+json",
      headers: problemHeaders(problem),
    });
    this.problem = problem;
    if (problem.code === "internal") this.thrown = error;
    return response;
  }
}
