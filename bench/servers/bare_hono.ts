/**
 * Hono without anything else, as the minimal cost of a service. It responds to
 * `/v1/check` with the text of the argument and our headers, and to
 * `/forward-auth` with an empty body.
 *
 * @module
 */

import { Hono } from "hono";

const ANSWER = JSON.parse(Deno.args[0] ?? "{}");
const app = new Hono();
app.post("/v1/check", async (context) => {
  await context.req.json();
  return context.json(ANSWER, 200, {
    "x-request-id": crypto.randomUUID(),
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  });
});
app.get("/forward-auth", (context) => context.body(null));
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  app.fetch,
);
console.log(`http://127.0.0.1:${server.addr.port}`);
