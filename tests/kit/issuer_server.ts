/** A server for issuers without entity tags and ranges. @module */

import type { SigningKey } from "@sig/jose";
import { type IssuerLocation, openSource, parseSource } from "@sig/consumer";
import {
  type ConditionalServer,
  startConditionalServer,
} from "./conditional_server.ts";
import { makeDocuments } from "./test_issuer.ts";

/** The content of a document, or a function that responds instead. */
export type { Served as Answer } from "./conditional_server.ts";

/** A running server. */
export type IssuerServer = ConditionalServer;

/** Starts a server without documents. */
export function startIssuerServer(): IssuerServer {
  return startConditionalServer({ etags: false, ranges: false });
}

/** A server that publishes an issuer at its own origin. */
export interface PublishedIssuer extends IssuerServer {
  /** The location of its documents. */
  readonly location: IssuerLocation;
  /** The lines of its feed. */
  readonly lines: readonly string[];
}

/** Starts a server and publishes lines made for its DID. */
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

/** Returns a response with a status and without a body. */
export function status(code: number): () => Response {
  return () => new Response(null, { status: code });
}
