/**
 * An application with its own sessions, and the login of SIG in front of them.
 *
 * The login says who came; what follows from that is the application's.
 *
 * @module
 */

import { createApp } from "@sig/web";
import { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";

const port = Number(Deno.env.get("PORT") ?? 8000);
const origin = Deno.env.get("ORIGIN") ?? `http://127.0.0.1:${port}`;
const cookie = {
  path: "/",
  httpOnly: true,
  sameSite: "Strict",
  secure: origin.startsWith("https:"),
} as const;
const SESSION_SECONDS = 8 * 60 * 60;

/** Of one process; several share a database, as they share a login store. */
const sessions = new Map<string, { subject: string; expires: number }>();

const login = createApp({ audiences: [origin] });

function ask(path: string, body: unknown): Promise<Response> {
  const url = `${origin}/v1/auth/${path}`;
  const headers = { "content-type": "application/json" };
  return login.fetch(
    new Request(url, { method: "POST", headers, body: JSON.stringify(body) }),
  );
}

const app = new Hono();

app.post("/login/challenge", async (c) => {
  const response = await ask("challenge/create", { scopes: ["profile"] });
  if (!response.ok) return response;
  const challenge = await response.json();
  // Only the browser that asked may answer: nobody is logged in as another.
  setCookie(c, "challenge", challenge.challenge_id, { ...cookie, maxAge: 300 });
  return c.json(challenge);
});

app.post("/login/session", async (c) => {
  const challengeId = getCookie(c, "challenge");
  if (challengeId === undefined) return c.text("no login was begun here", 400);
  const response = await ask("attestation/verify", {
    attestation: await c.req.text(),
    challenge_id: challengeId,
    scopes: ["profile"],
  });
  if (!response.ok) return response;
  const { subject } = await response.json();
  const id = crypto.randomUUID();
  const expires = Date.now() + SESSION_SECONDS * 1000;
  sessions.set(id, { subject, expires });
  deleteCookie(c, "challenge", cookie);
  setCookie(c, "session", id, { ...cookie, maxAge: SESSION_SECONDS });
  return c.json({ subject });
});

app.get("/me", (c) => {
  const session = sessions.get(getCookie(c, "session") ?? "");
  const isValid = session !== undefined && Date.now() < session.expires;
  return isValid ? c.json({ subject: session.subject }) : c.text("log in", 401);
});

app.post("/logout", (c) => {
  sessions.delete(deleteCookie(c, "session", cookie) ?? "");
  return c.body(null, 204);
});

Deno.serve({ hostname: "127.0.0.1", port }, app.fetch);
