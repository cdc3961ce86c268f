/** An issuer's documents on a real server on loopback. @module */

import type { SigningKey } from "@sig/jose";
import { type IssuerLocation, openSource, parseSource } from "@sig/consumer";
import { makeDocuments, PATHS } from "./test_issuer.ts";

/** What the server does when a path is asked for. */
export type Answer =
  | string
  | Uint8Array<ArrayBuffer>
  | ((request: Request) => Response | Promise<Response>);

/** A running server. */
export interface IssuerServer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** The did:web of that origin. */
  readonly did: string;
  /** Answers by path; 404 for others. May be changed at any time. */
  readonly documents: Map<string, Answer>;
  /** The paths that were asked for, in order. */
  readonly requests: string[];
  /** Stops it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Media types as an issuer's server should tell them. */
function mediaTypeOf(path: string): string {
  return path === PATHS.feed ? "application/x-ndjson" : "application/json";
}

/** Starts a server without documents. */
export function startIssuerServer(): IssuerServer {
  const documents = new Map<string, Answer>();
  const requests: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      requests.push(pathname);
      const answer = documents.get(pathname);
      if (answer === undefined) return new Response(null, { status: 404 });
      if (typeof answer === "function") return await answer(request);
      return new Response(answer, {
        headers: { "content-type": mediaTypeOf(pathname) },
      });
    },
  );
  const { port } = server.addr;
  return {
    origin: `http://127.0.0.1:${port}`,
    did: `did:web:127.0.0.1%3A${port}`,
    documents,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A server that publishes an issuer of its own origin. */
export interface PublishedIssuer extends IssuerServer {
  /** Where its documents are read. */
  readonly location: IssuerLocation;
  /** The lines of its feed. */
  readonly lines: readonly string[];
}

/** Starts it, with lines that are made for its DID. */
export async function publishIssuer(
  keys: readonly SigningKey[],
  makeLines: (issuer: string) => Promise<readonly string[]>,
): Promise<PublishedIssuer> {
  const server = startIssuerServer();
  const { did, origin, documents } = server;
  const lines = await makeLines(did);
  const made = makeDocuments({ did, origin, keys, lines });
  for (const [path, text] of made) documents.set(path, text);
  const policy = { allowPrivate: true };
  const location = openSource(parseSource(did, policy), policy);
  return { ...server, location, lines };
}

/** An answer with a status and no document. */
export function status(code: number): () => Response {
  return () => new Response(null, { status: code });
}
