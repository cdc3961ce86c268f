/** An issuer's server without entity tags and ranges. @module */

import type { SigningKey } from "@sig/jose";
import { type IssuerLocation, openSource, parseSource } from "@sig/consumer";
import {
  type ConditionalServer,
  startConditionalServer,
} from "./conditional_server.ts";
import { makeDocuments } from "./test_issuer.ts";

/** What the server does when a path is asked for. */
export type { Served as Answer } from "./conditional_server.ts";

/** A running server. */
export type IssuerServer = ConditionalServer;

/** Starts a server without documents. */
export function startIssuerServer(): IssuerServer {
  return startConditionalServer({ etags: false, ranges: false });
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
