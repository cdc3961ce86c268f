/** Sends requests to an app in tests, and starts issuers. @module */

import {
  type IssuerServer,
  startIssuerServer,
} from "../../tests/kit/issuer_server.ts";
import {
  ALICE,
  importTestKeys,
  makeDocuments,
  makeLines,
  NOW,
} from "../../tests/kit/test_issuer.ts";
import { type App, type AppOptions, createApp } from "../app.ts";

/** The response to a request. */
export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests look into answers of any shape
  readonly body: any;
}

/** Sends JSON (or a text unchanged) to a path of an app. */
export async function post(
  app: App,
  path: string,
  body: unknown,
  headers: { readonly [name: string]: string } = {},
): Promise<Asked> {
  const response = await app.fetch(
    new Request(`http://127.0.0.1${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );
  return await toAsked(response);
}

/** Requests a path of an app; a body that is not JSON stays a text. */
export async function get(
  app: App,
  path: string,
  headers: { readonly [name: string]: string } = {},
): Promise<Asked> {
  return await toAsked(
    await app.fetch(new Request(`http://127.0.0.1${path}`, { headers })),
  );
}

async function toAsked(response: Response): Promise<Asked> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

/** A question about Alice. */
export const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;

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
  readonly server: IssuerServer;
  readonly app: App;
  /** Publishes the first `n` lines, or the given lines. */
  publish(lines: number | readonly string[]): void;
  readonly lines: readonly string[];
}

/** The app's current time in tests. */
export const now: () => Date = () => NOW;

/** Starts an issuer with this number of events, all about Alice. */
export async function serveIssuer(
  { events = 3, ...options }: AppOptions & { readonly events?: number } = {},
): Promise<Served> {
  const server = startIssuerServer();
  const { did, origin } = server;
  const [key] = await importTestKeys();
  const lines = await makeLines(events, key!, { issuer: did });
  const publish = (what: number | readonly string[]) => {
    const published = typeof what === "number" ? lines.slice(0, what) : what;
    const documents = makeDocuments({
      did,
      origin,
      keys: [key!],
      lines: published,
    });
    for (const [path, answer] of documents) server.documents.set(path, answer);
  };
  publish(events);
  const app = createApp({
    issuers: [did],
    allowPrivate: true,
    now,
    ...options,
  });
  return {
    server,
    app,
    publish,
    lines,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
