/** Routes of the old form, until all of them are Hono handlers. @module */

import type { Context } from "hono";
import type { ServiceEnv } from "./guard.ts";
import { problemResponse } from "./problem.ts";
import { readForm, readJson } from "./read_body.ts";
import { send, sendJson } from "./send.ts";

/** One method of one path. */
export interface Route {
  /** `GET` answers `HEAD` too. */
  readonly method: "GET" | "POST";
  /** The path, with `:name` for parameters. */
  readonly path: string;
  /** See `ServiceOptions.unlimited`. */
  readonly unlimited?: true;
  /** See `ServiceOptions.crossSite`. */
  readonly crossSite?: true;
  /** Makes the response. */
  readonly handle: Handle;
}

/** Makes the response to a request; what it throws becomes a problem. */
export type Handle = (
  exchange: Exchange,
  params: { readonly [name: string]: string },
) => Response | Promise<Response>;

/** What a response is, beside its body. */
export interface ReplyOptions {
  /** 200 unless told. */
  readonly status?: number;
  /** The media type. */
  readonly type?: string;
  /** Further headers. */
  readonly headers?: readonly (readonly [string, string])[];
}

/** A request in progress. */
export class Exchange {
  readonly #c: Context<ServiceEnv>;

  /** Begins it; `context` is a Hono `Context`. */
  constructor(context: object) {
    this.#c = context as Context<ServiceEnv>;
  }

  /** The client's network, as limits count it. */
  get client(): string {
    return this.#c.get("budget").client;
  }

  /** The request. */
  get request(): Request {
    return this.#c.req.raw;
  }

  /** The request's id. */
  get requestId(): string {
    return this.#c.get("requestId");
  }

  /** What was thrown and not meant to happen; for the log. */
  set thrown(error: unknown) {
    this.#c.set("thrown", error);
  }

  /** `readJson(c, maxBytes)` */
  readJson(maxBytes: number): Promise<unknown> {
    return readJson(this.#c, maxBytes);
  }

  /** `readForm(c, maxBytes)` */
  readForm(maxBytes: number): Promise<URLSearchParams> {
    return readForm(this.#c, maxBytes);
  }

  /** `c.get("budget").waitFor(…)` */
  waitFor<T>(
    other: string,
    work: () => Promise<T>,
    eachClient?: number,
  ): Promise<T> {
    return this.#c.get("budget").waitFor(other, work, eachClient);
  }

  /** `send(c, body, type, { status, headers })`, or `c.body(null, status)`. */
  reply(
    body: string | Uint8Array<ArrayBuffer> | null,
    { status = 200, type, headers = [] }: ReplyOptions,
  ): Response {
    if (body !== null && type !== undefined) {
      return send(this.#c, body, type, { status, headers });
    }
    const response = new Response(body, { status });
    if (type !== undefined) response.headers.set("content-type", type);
    for (const [name, value] of headers) response.headers.append(name, value);
    return response;
  }

  /** `sendJson(c, value)` */
  json(value: unknown): Response {
    return sendJson(this.#c, value);
  }

  /** `problemResponse(c, error)` */
  refuse(error: unknown): Response {
    return problemResponse(this.#c, error);
  }
}
