/** One request and how it is answered. @module */

import { type Problem, toProblem } from "@sig/core";
import { problemHeaders } from "./problem_headers.ts";
import { readJsonBody } from "./read_json_body.ts";

/** What a response is, beside its body. */
export interface ReplyOptions {
  /** 200 unless told. */
  readonly status?: number;
  /** The media type. */
  readonly type: string;
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
 * A request in progress. Its replies carry all their headers from the start:
 * adding them later, one by one, costs a multiple of the rest.
 */
export class Exchange {
  /** The request. */
  readonly request: Request;
  /** The client's `X-Request-ID`, or a fresh one. */
  readonly requestId: string;
  /** What was answered, when it was a problem. */
  problem: Problem | undefined;
  /** What was thrown, when that was not meant to happen. */
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
   * @throws {SigError} `unsupported_media_type`, `body_too_large`,
   * `request_timeout`, `invalid_json`, `overloaded`.
   */
  async readJson(maxBytes: number): Promise<unknown> {
    return await readJsonBody(this.request, {
      maxBytes,
      timeoutMs: this.#context.bodyTimeoutMs,
      reserve: (bytes) => this.#context.reserve(bytes),
    });
  }

  /** A response; nothing of it is kept by caches unless its headers say so. */
  reply(body: string | null, options: ReplyOptions): Response {
    const { status = 200, type, headers = [] } = options;
    const all: [string, string][] = [
      ["content-type", type],
      ["x-request-id", this.requestId],
      ["x-content-type-options", "nosniff"],
    ];
    for (const [name, value] of this.#context.headers) all.push([name, value]);
    let isCacheable = false;
    for (const [name, value] of headers) {
      isCacheable ||= name === "cache-control";
      all.push([name, value]);
    }
    if (!isCacheable) all.push(["cache-control", "no-store"]);
    return new Response(body, { status, headers: all });
  }

  /** A JSON value. */
  json(value: unknown): Response {
    return this.reply(JSON.stringify(value), { type: "application/json" });
  }

  /**
   * An error as problem details (RFC 9457), with the request's name. What is no
   * `SigError` becomes `internal`, and nothing of it is told.
   */
  refuse(error: unknown): Response {
    const problem = toProblem(error);
    this.problem = problem;
    if (problem.code === "internal") this.thrown = error;
    const { type, title, status, detail, ...rest } = problem;
    const body = {
      ...{ type, title, status, detail, instance: this.requestId },
      ...rest,
    };
    return this.reply(JSON.stringify(body), {
      status,
      type: "application/problem+json",
      headers: problemHeaders(problem),
    });
  }
}
