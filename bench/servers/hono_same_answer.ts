/**
 * Hono that answers as much as `/v1/check` does, with the same headers, and
 * nothing of what makes it an answer: what is left below is a server's own.
 *
 * @module
 */

import { Hono } from "hono";

const ANSWER = {
  decision: "allow",
  subject: "did:web:person-500.example",
  requirements: [
    { key: "relationship", value: "employee" },
    { key: "role", value: "deploy" },
  ],
  matched_relationship_id: "01M812PZYZHK0R76B7TDFM6M39",
  last_sequence: 1000,
  issuer: "did:web:127.0.0.1%3A40000",
  reasons: [],
  evaluated_at: "2026-01-01T00:00:00.007Z",
  at: null,
  as_of: null,
  not_after: null,
  source: "https",
  freshness: {
    observed_at: "2026-01-01T00:00:00.001Z",
    age_seconds: 0,
    max_age_seconds: 60,
    status: "fresh",
  },
  continuity: "first_seen",
  warnings: [],
};

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
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  app.fetch,
);
console.log(`http://127.0.0.1:${server.addr.port}`);
