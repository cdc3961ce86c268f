/** An application for the employees of acme.example only. @module */

import { type SigEnv, sigLogin } from "@sig/web/hono";
import { Hono } from "hono";

const port = Number(Deno.env.get("PORT") ?? 8000);
const audience = Deno.env.get("ORIGIN") ?? `http://127.0.0.1:${port}`;
const issuer = Deno.env.get("ISSUER") ?? "acme.example";
const allowPrivate = Deno.env.has("ALLOW_INSECURE");
const recheckMs = Number(Deno.env.get("RECHECK_MS") ?? 30_000);
const require = ["relationship=employee"];

const app = new Hono<SigEnv>();
app.route(
  "/",
  sigLogin({ audience, issuer, require, recheckMs, allowPrivate }),
);
app.get("/", (c) => {
  const sig = c.get("sig");
  return sig ? c.text(`Hello, ${sig.subject}`) : c.redirect("/sig/login");
});
Deno.serve({ hostname: "127.0.0.1", port }, app.fetch);
