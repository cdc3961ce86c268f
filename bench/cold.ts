/**
 * A cold verification of a large feed, on all cores, beside three others in
 * the same run: one thread alone, the naive pipeline of `npm:jose`, and the
 * bare `node:crypto` verifications, on one core and on all at the same time.
 * Goals: 3.8 times the naive one with 2 cores, 90 % of cores × bare.
 * Run: `deno run -A bench/cold.ts [EVENTS [PAIRS]]`
 *
 * @module
 */
import { createPublicKey, verify } from "node:crypto";
import { createLocalJWKSet, flattenedVerify } from "jose";
import { SignatureWorkers, verifyFeed } from "@sig/consumer";
import type { FlattenedJws } from "@sig/core";
import {
  createKeyResolver,
  generateSigningKey,
  importSigningKey,
  signEvent,
} from "@sig/jose";
import { benchEvent } from "./event.ts";
import { comparePairs, type Pairs } from "./pairs.ts";

const EVENTS = Number(Deno.args[0] ?? 20_000);
const PAIRS = Number(Deno.args[1] ?? 15);
const ISSUER = "did:web:acme.example";
const CHUNK_BYTES = 64 * 1024;
const CORES = navigator.hardwareConcurrency;

const key = await importSigningKey(await generateSigningKey({ kid: "bench" }));
const envelopes: FlattenedJws[] = [];
for (let i = 1; i <= EVENTS; i++) {
  envelopes.push(await signEvent(benchEvent(ISSUER, i), key));
}
const feed = new TextEncoder().encode(
  envelopes.map((each) => `${JSON.stringify(each)}\n`).join(""),
);

/** As a file gives it. */
async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < feed.length; at += CHUNK_BYTES) {
    yield await Promise.resolve(feed.slice(at, at + CHUNK_BYTES));
  }
}

const keys = await createKeyResolver({ keys: [key.publicJwk] });

async function ours(workers: SignatureWorkers): Promise<void> {
  const { verifiedEvents, state } = await verifyFeed(chunks(), {
    issuer: ISSUER,
    keys,
    publicOnly: true,
    now: new Date(),
    workers,
    expectedBytes: feed.length,
  });
  if (verifiedEvents !== EVENTS || state.last_sequence !== EVENTS) {
    throw new Error("not all verified");
  }
}

/** What one writes first: line by line, with what the package offers. */
async function naive(): Promise<void> {
  const { kty, crv, x, kid } = key.publicJwk;
  const keySet = createLocalJWKSet({
    keys: [{ kty, crv, x, ...(kid === undefined ? {} : { kid }) }],
  });
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

const publicKey = createPublicKey({
  key: { ...key.publicJwk },
  format: "jwk",
});
const signed = envelopes.map((each) => ({
  input: new TextEncoder().encode(`${each.protected}.${each.payload}`),
  signature: Uint8Array.fromBase64(each.signature, { alphabet: "base64url" }),
}));

function bare(from = 0): void {
  for (let i = from; i < signed.length; i++) {
    const { input, signature } = signed[i]!;
    if (!verify(null, input, publicKey, signature)) throw new Error("bad");
  }
}

/** Bare verifications of a share, on a core of their own. */
const CODE = `import { createPublicKey, verify } from "node:crypto";
let key, signed;
globalThis.onmessage = ({ data }) => {
  if (data) {
    key = createPublicKey({ key: data.jwk, format: "jwk" });
    signed = data.signed;
  } else {
    for (const { input, signature } of signed) {
      if (!verify(null, input, key, signature)) throw new Error("bad");
    }
  }
  globalThis.postMessage(undefined);
};`;
const others = Array.from(
  { length: CORES - 1 },
  () =>
    new Worker(`data:text/javascript,${encodeURIComponent(CODE)}`, {
      type: "module",
    }),
);
const share = Math.floor(EVENTS / CORES);

function answerOf(worker: Worker, message: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onerror = reject;
    worker.postMessage(message);
  });
}

await Promise.all(others.map((worker, i) => {
  const part = signed.slice(i * share, (i + 1) * share);
  return answerOf(worker, { jwk: { ...key.publicJwk }, signed: part });
}));

/** As many as the feed has, by all cores at the same time. */
async function bareEverywhere(): Promise<void> {
  const answers = others.map((worker) => answerOf(worker, undefined));
  bare((CORES - 1) * share);
  await Promise.all(answers);
}

const alone = new SignatureWorkers({ maxWorkers: 0 });
const all = new SignatureWorkers();

const us = (ms: number) => `${(ms * 1000 / EVENTS).toFixed(1)} µs an event`;
console.log(`${EVENTS} events, ${feed.length} bytes, ${CORES} cores`);
const show = (name: string, { a, b, processor }: Pairs, words: string) => {
  console.log(`${name.padEnd(28)} ${us(a)} against ${us(b)}: ${words}`);
  console.log(
    `${"  processor time".padEnd(28)} ${us(processor.a)} against ` +
      `${us(processor.b)}: ${processor.ratio.toFixed(2)} ×`,
  );
};

const byNaive = await comparePairs(naive, () => ours(all), PAIRS);
show("naive, all cores", byNaive, `${byNaive.ratio.toFixed(2)} × (goal: 3.8)`);
const byBare = await comparePairs(() => bare(), () => ours(all), PAIRS);
const percent = 100 * byBare.ratio / CORES;
show(
  "bare, all cores",
  byBare,
  `${percent.toFixed(0)} % of ${CORES} × bare (goal: 90)`,
);
const byAll = await comparePairs(bareEverywhere, () => ours(all), PAIRS);
show(
  "bare on all cores at once",
  byAll,
  `${(100 * byAll.ratio).toFixed(0)} % of what this machine can`,
);
const byOne = await comparePairs(() => ours(alone), () => ours(all), PAIRS);
show("one thread, all cores", byOne, `${byOne.ratio.toFixed(2)} ×`);
const overhead = await comparePairs(() => ours(alone), () => bare(), PAIRS);
show("one thread, bare", overhead, `${overhead.ratio.toFixed(2)} ×`);
for (const worker of others) worker.terminate();
