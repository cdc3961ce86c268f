/**
 * One thread: a whole feed, from bytes to state, against the bare signatures.
 * Goal: at most 1.25. Run: `deno run -A bench/verify_event.ts`
 *
 * @module
 */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { FlattenedJws } from "@sig/core";
import { verifyFeed } from "@sig/consumer";
import {
  createKeyResolver,
  generateSigningKey,
  importSigningKey,
  signEvent,
} from "@sig/jose";
import { benchEvent } from "./event.ts";
import { comparePairs } from "./pairs.ts";

const EVENTS = 2_000;
const ISSUER = "did:web:acme.example";
const CHUNK_BYTES = 256 * 1024;

const key = await importSigningKey(await generateSigningKey({ kid: "bench" }));
const envelopes: FlattenedJws[] = [];
for (let i = 1; i <= EVENTS; i++) {
  envelopes.push(await signEvent(benchEvent(ISSUER, i), key));
}

const feed = new TextEncoder().encode(
  envelopes.map((each) => `${JSON.stringify(each)}\n`).join(""),
);
const chunks: Uint8Array[] = [];
for (let at = 0; at < feed.length; at += CHUNK_BYTES) {
  chunks.push(feed.subarray(at, at + CHUNK_BYTES));
}

const publicKey: KeyObject = createPublicKey({
  key: { ...key.publicJwk },
  format: "jwk",
});
const signed = envelopes.map((each) => ({
  input: new TextEncoder().encode(`${each.protected}.${each.payload}`),
  signature: Uint8Array.fromBase64(each.signature, { alphabet: "base64url" }),
}));

const keys = await createKeyResolver({ keys: [key.publicJwk] }, {
  backend: "node",
});

const { a, b, ratio } = await comparePairs(
  async () => {
    const { verifiedEvents } = await verifyFeed(chunks, {
      issuer: ISSUER,
      keys,
      publicOnly: true,
      now: new Date(),
    });
    if (verifiedEvents !== EVENTS) throw new Error("not all verified");
  },
  () => {
    for (const { input, signature } of signed) {
      if (!verify(null, input, publicKey, signature)) throw new Error("bad");
    }
  },
);
const us = (ms: number) => `${(ms * 1000 / EVENTS).toFixed(1)} µs`;
console.log(`feed of ${EVENTS} events, ${feed.length} bytes`);
console.log(`verified and replayed  ${us(a)} an event`);
console.log(`bare node:crypto       ${us(b)} an event`);
console.log(`ratio                  ${ratio.toFixed(3)}  (goal: at most 1.25)`);
