/**
 * Asks an issuer from nothing whenever it is asked itself, and answers how many
 * milliseconds that took. Its argument: the issuer.
 *
 * @module
 */

import { createConsumer } from "@sig/consumer";

const [issuer = ""] = Deno.args;

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  async () => {
    const start = performance.now();
    const consumer = createConsumer({ issuers: [issuer], allowPrivate: true });
    const { decision } = await consumer.check(issuer, {
      subject: "did:web:person-7.example",
      require: ["role=deploy"],
    });
    if (decision !== "allow") throw new Error("not allowed");
    return new Response(String(performance.now() - start));
  },
);
console.log(`http://127.0.0.1:${server.addr.port}`);
