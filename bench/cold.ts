/**
 * Goal 1. A cold verification of a large feed on all cores, compared with a
 * naive pipeline of `npm:jose` (at least 4.5 × its speed on 2 cores) and with
 * one thread. Arguments: events, pairs.
 *
 * @module
 */

import { createLocalJWKSet, flattenedVerify } from "jose";
import { SignatureWorkers, verifyFeed } from "@sig/consumer";
import { createKeyResolver } from "@sig/jose";
import { ISSUER, makeFeed } from "./feed.ts";
import { comparePairs } from "./pairs.ts";

const EVENTS = Number(Deno.args[0] ?? 20_000);
const PAIRS = Number(Deno.args[1] ?? 15);
const CHUNK_BYTES = 64 * 1024;

const { bytes, jwk } = await makeFeed(EVENTS);
const keys = await createKeyResolver({ keys: [jwk] });

/** Chunks as a file is read. */
async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield await Promise.resolve(bytes.slice(at, at + CHUNK_BYTES));
  }
}

async function ours(workers: SignatureWorkers): Promise<void> {
  const { verifiedEvents } = await verifyFeed(chunks(), {
    issuer: ISSUER,
    keys,
    publicOnly: true,
    now: new Date(),
    workers,
    expectedBytes: bytes.length,
  });
  if (verifiedEvents !== EVENTS) throw new Error("not all verified");
}

/** The obvious implementation, with the functions of the package. */
async function naive(): Promise<void> {
  const { kty, crv, x, kid = "" } = jwk;
  const keySet = createLocalJWKSet({ keys: [{ kty, crv, x, kid }] });
  const state = new Map<string, unknown>();
  const decoder = new TextDecoder();
  let last = 0;
  let rest = "";
  for await (const chunk of chunks()) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const { payload } = await flattenedVerify(JSON.parse(line), keySet);
      const event = JSON.parse(decoder.decode(payload));
      if (event.issuer !== ISSUER || event.sequence !== ++last) {
        throw new Error("out of order");
      }
      state.set(event.relationship_id, event);
    }
  }
  if (state.size !== EVENTS) throw new Error("not all verified");
}

const alone = new SignatureWorkers({ maxWorkers: 0 });
const all = new SignatureWorkers();
const us = (ms: number) => `${(ms * 1000 / EVENTS).toFixed(1)} µs an event`;
for (
  const [name, other, goal] of [
    ["naive pipeline", naive, " (goal: at least 4.5)"],
    ["one thread", () => ours(alone), ""],
  ] as const
) {
  const { a, b, ratio } = await comparePairs(other, () => ours(all), PAIRS);
  console.log(
    `${name} ${us(a)}, ours on ${navigator.hardwareConcurrency} cores ` +
      `${us(b)}: ${ratio.toFixed(2)} ×${goal}`,
  );
}
