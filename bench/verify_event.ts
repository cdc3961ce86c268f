/**
 * Goal 0. The verification of a whole feed on one thread, from bytes to state,
 * compared with the bare verification of its signatures (at most 1.4 ×).
 *
 * @module
 */

import { verifyFeed } from "@sig/consumer";
import { createKeyResolver } from "@sig/jose";
import { bareVerification, ISSUER, makeFeed } from "./feed.ts";
import { comparePairs } from "./pairs.ts";

const EVENTS = 2_000;
const CHUNK_BYTES = 256 * 1024;

const { bytes, jwk, signed } = await makeFeed(EVENTS);
const chunks: Uint8Array[] = [];
for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
  chunks.push(bytes.subarray(at, at + CHUNK_BYTES));
}
const keys = await createKeyResolver({ keys: [jwk] }, { backend: "node" });
const { a, b, ratio } = await comparePairs(async () => {
  const { verifiedEvents } = await verifyFeed(chunks, {
    issuer: ISSUER,
    keys,
    publicOnly: true,
    now: new Date(),
  });
  if (verifiedEvents !== EVENTS) throw new Error("not all verified");
}, bareVerification(jwk, signed));
const us = (ms: number) => `${(ms * 1000 / EVENTS).toFixed(1)} µs`;
console.log(
  `verified and replayed ${us(a)} per event, bare node:crypto ${us(b)}: ` +
    `${ratio.toFixed(2)} × (goal: at most 1.4)`,
);
