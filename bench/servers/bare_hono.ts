/** Hono and nothing else: parses JSON, answers JSON, or nothing. What a service costs at least. @module */

import { Hono } from "hono";

const app = new Hono();
app.post(
  "/v1/check",
  async (context) => context.json(await context.req.json()),
);
app.get("/forward-auth", (context) => context.body(null));
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  app.fetch,
);
console.log(`http://127.0.0.1:${server.addr.port}`);
