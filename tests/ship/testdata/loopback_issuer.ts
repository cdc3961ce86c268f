/** An issuer on loopback, for tests of servers. @module */

import {
  createDemoIssuer,
  type DemoIssuer,
} from "../../../web/demo/demo_issuer.ts";

/** The issuer's only subject: an employee with the role `deploy`. */
export const ALICE = "did:web:alice.example";

/** A running issuer. */
export interface LoopbackIssuer extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** Its DID. */
  readonly did: string;
  /** Returns the number of requests for documents. */
  readonly requests: () => number;
}

/** Starts an issuer with one event, about {@linkcode ALICE}. */
export async function startLoopbackIssuer(): Promise<LoopbackIssuer> {
  const { promise: ready, resolve } = Promise.withResolvers<DemoIssuer>();
  let requests = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      requests++;
      const { pathname } = new URL(request.url);
      const bytes = (await ready).document(pathname);
      if (bytes === undefined) return new Response(null, { status: 404 });
      const type = pathname.endsWith(".jsonl") ? "x-ndjson" : "json";
      return new Response(bytes.slice(), {
        headers: { "content-type": `application/${type}` },
      });
    },
  );
  const host = `127.0.0.1:${server.addr.port}`;
  const issuer = await createDemoIssuer({
    origin: `http://${host}`,
    now: () => new Date(),
  });
  await issuer.enrol(ALICE);
  resolve(issuer);
  return {
    host,
    did: issuer.did,
    requests: () => requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
