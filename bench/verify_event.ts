/**
 * Goal 0. The verification of a whole feed on one thread, from bytes to state,
 * compared with the bare verification of its signatures (at most 1.4 ×), and
 * with a recovery statement over all events compared with one without (at most
 * 1.02 ×).
 *
 * @module
 */

import { verifyFeed } from "@sig/consumer";
import { encodeBase64Url } from "@std/encoding/base64url";
import { createKeyResolver } from "@sig/jose";
import { leafHash, treeHash } from "@sig/jose/proofs";
import type { Recovery } from "@sig/jose/recovery";
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
const verify = async (recovery?: Recovery) => {
  const { verifiedEvents } = await verifyFeed(chunks, {
    issuer: ISSUER,
    keys,
    publicOnly: true,
    now: new Date(),
    recovery,
  });
  if (verifiedEvents !== EVENTS) throw new Error("not all verified");
};
const { a, b, ratio } = await comparePairs(
  () => verify(),
  bareVerification(jwk, signed),
);
const us = (ms: number) => `${(ms * 1000 / EVENTS).toFixed(1)} µs`;
console.log(
  `verified and replayed ${us(a)} per event, bare node:crypto ${us(b)}: ` +
    `${ratio.toFixed(2)} × (goal: at most 1.4)`,
);

const lines = new TextDecoder().decode(bytes).trimEnd().split("\n");
const hashes = lines.map((line) => leafHash(new TextEncoder().encode(line)));
const none = { iss: ISSUER, iat: 0, n: 1, key: "", next: "", ended: [] };
const root = encodeBase64Url(treeHash(hashes));
const recovery: Recovery = {
  member: { commitment: "", statements: [] },
  statements: [{ ...none, keys: {}, size: EVENTS, root }],
  ended: new Map(),
  keys: {},
  next: "",
};
const { processor } = await comparePairs(
  () => verify(recovery),
  () => verify(),
);
console.log(
  `with a statement over all events: ${processor.ratio.toFixed(3)} × the ` +
    "processor time without (goal: at most 1.02)",
);
