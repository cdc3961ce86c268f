/** An issuer on loopback, for tests of servers. @module */

import {
  createDemoIssuer,
  type DemoIssuer,
} from "../../../web/demo/demo_issuer.ts";
import { type LoopbackServer, serveLoopback } from "../../kit/loopback.ts";

/** The issuer's only subject: an employee with the role `deploy`. */
export const ALICE = "did:web:alice.example";

/** A running issuer. */
export interface LoopbackIssuer extends LoopbackServer {
  /** Appends and revokes relationships. */
  readonly issuer: DemoIssuer;
  /** Returns the number of requests for documents. */
  readonly requests: () => number;
}

/** Starts an issuer with one event, about {@linkcode ALICE}. */
export async function startLoopbackIssuer(): Promise<LoopbackIssuer> {
  const { promise: ready, resolve } = Promise.withResolvers<DemoIssuer>();
  let requests = 0;
  const server = serveLoopback(async ({ url }) => {
    requests++;
    const { pathname } = new URL(url);
    const bytes = (await ready).document(pathname);
    if (bytes === undefined) return new Response(null, { status: 404 });
    const type = pathname.endsWith(".jsonl") ? "x-ndjson" : "json";
    return new Response(bytes.slice(), {
      headers: { "content-type": `application/${type}` },
    });
  });
  const { origin } = server;
  const issuer = await createDemoIssuer({ origin, now: () => new Date() });
  await issuer.enrol(ALICE);
  resolve(issuer);
  return { ...server, issuer, requests: () => requests };
}

/** Returns the question whether a subject has the role `deploy`. */
export function mayDeploy(issuer: string, subject: string): unknown {
  return { issuer, subject, require: ["role=deploy"] };
}
