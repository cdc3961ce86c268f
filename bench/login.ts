/**
 * Goal 6. Logins: a challenge created and an attestation verified, compared
 * with the bare verification of a signature (at least 35 % of its rate).
 *
 * @module
 */

import {
  generateSigningKey,
  importSigningKey,
  parseAttestation,
  signAttestation,
} from "@sig/jose";
import type { App } from "@sig/api/internal/http";
import { createApp } from "@sig/web";
import { bareVerification, type Signed } from "./feed.ts";
import { comparePairs } from "./pairs.ts";

const LOGINS = 300;
const PAIRS = 15;
const ORIGIN = "https://shop.example";
const now = () => new Date();
const key = await importSigningKey(await generateSigningKey());
const app = createApp({ audiences: [ORIGIN] });

function post(path: string, sent: unknown): Request {
  const body = JSON.stringify(sent);
  return new Request(`${ORIGIN}/v1/auth/${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-length": String(body.length),
    },
    body,
  });
}

async function ask(app: App, request: Request) {
  const response = await app.fetch(request);
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return JSON.parse(text);
}

const create = () => post("challenge/create", { scopes: ["email", "profile"] });

/** Makes the requests before the timing: they are the client's work. */
async function prepare() {
  const logins: { create: Request; verify: Request; signed: Signed }[] = [];
  for (let i = 0; i < LOGINS; i++) {
    const challenge = await ask(app, create());
    const attestation = await signAttestation({ challenge, key, now });
    const { signature, signingInput: input } = parseAttestation(attestation);
    const verify = post("attestation/verify", { attestation });
    logins.push({ create: create(), verify, signed: { input, signature } });
  }
  return logins;
}

const batches: Awaited<ReturnType<typeof prepare>>[] = [];
for (let i = 0; i <= PAIRS; i++) batches.push(await prepare());
const signed = batches[0]!.map((login) => login.signed);
const { a, b, ratio } = await comparePairs(
  async () => {
    for (const { create, verify } of batches.pop()!) {
      await ask(app, create);
      await ask(app, verify);
    }
  },
  bareVerification(key.publicJwk, signed),
  PAIRS,
);
const us = (ms: number) => `${(ms * 1000 / LOGINS).toFixed(1)} µs`;
console.log(
  `login ${us(a)}, bare verification ${us(b)}: ${(100 / ratio).toFixed(0)} % ` +
    "of its rate (goal: at least 35 %)",
);
