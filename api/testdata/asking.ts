/** Sends requests to an app in tests, and starts issuers. @module */

import type { ConditionalServer } from "../../tests/kit/conditional_server.ts";
import { ALICE, importTestKeys, NOW } from "../../tests/kit/test_issuer.ts";
import { QUESTION, watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { type App, type AppOptions, createApp } from "../app.ts";

/** The response to a request. */
export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text, parsed if it is JSON. */
  // deno-lint-ignore no-explicit-any -- tests look into answers of any shape
  readonly body: any;
}

/** Answers requests, such as an app or a Hono service. */
interface Fetcher {
  fetch(request: Request, info?: object): Response | Promise<Response>;
}

type RequestHeaders = { readonly [name: string]: string };

/** Sends a request to a path of an app, or to a URL. */
export async function ask(
  app: Fetcher,
  path: string,
  init: RequestInit = {},
  info?: object,
): Promise<Asked> {
  const url = path.startsWith("/") ? `http://127.0.0.1${path}` : path;
  const response = await app.fetch(new Request(url, init), info);
  const text = await response.text();
  const { headers, status } = response;
  const isJson = headers.get("content-type")?.includes("json") && text !== "";
  return { status, headers, text, body: isJson ? JSON.parse(text) : text };
}

/** Sends JSON (or a text or stream unchanged) to a path of an app. */
export function post(
  app: Fetcher,
  path: string,
  body: unknown,
  headers: RequestHeaders = {},
): Promise<Asked> {
  const isSent = typeof body === "string" || body instanceof ReadableStream;
  return ask(app, path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: isSent ? body : JSON.stringify(body),
  });
}

/** Requests a path of an app. */
export function get(
  app: Fetcher,
  path: string,
  headers: RequestHeaders = {},
): Promise<Asked> {
  return ask(app, path, { headers });
}

export { QUESTION };

/** An AuthZEN evaluation: may Alice deploy, according to this issuer? */
export function evaluationOf(issuer: string) {
  return {
    subject: { type: "user", id: ALICE },
    action: { name: "deploy" },
    resource: { type: "issuer", id: issuer },
  };
}

/** A resource that is not an issuer. */
export const CLUSTER = { type: "cluster", id: "production" };

/** An issuer on loopback, with an app that may query it. */
export interface Served extends AsyncDisposable {
  readonly server: ConditionalServer;
  readonly app: App;
  /**
   * Publishes the first `n` lines, or the given lines, and the documents as at
   * the start.
   */
  publish(lines: number | readonly string[]): void;
  readonly lines: readonly string[];
}

/** The app's current time in tests. */
export const now: () => Date = () => NOW;

/** Starts an issuer with this number of events, all about Alice. */
export async function serveIssuer(
  { events = 3, ...options }: AppOptions & { readonly events?: number } = {},
): Promise<Served> {
  const [key] = await importTestKeys();
  const issuer = await watchIssuer(events, key!);
  const { did, lines, server } = issuer;
  const atStart = [...server.documents];
  return {
    ...issuer,
    app: createApp({ issuers: [did], allowPrivate: true, now, ...options }),
    publish(what) {
      for (const [path, text] of atStart) server.documents.set(path, text);
      issuer.publish(typeof what === "number" ? lines.slice(0, what) : what);
    },
  };
}
