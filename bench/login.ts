/**
 * Logins: a challenge created and its answer verified, against the bare
 * signature. Goal: at least 35 % of the bare rate. Beside it: keys that were
 * never seen, the shared stores, and memory after 50,000 challenges expired.
 * Run: `deno run -A --unstable-kv --v8-flags=--expose-gc bench/login.ts`
 *
 * @module
 */
import { createPublicKey, verify } from "node:crypto";
import {
  generateSigningKey,
  importSigningKey,
  parseAttestation,
  signAttestation,
  type SigningKey,
} from "@sig/jose";
import type { App } from "@sig/api/http";
import { createApp } from "@sig/web";
import { openStore, type RecordStore } from "@sig/consumer/store";
import { challengesIn } from "../web/login/challenges.ts";
import type { Challenge } from "../web/login/create_challenge.ts";
import { createChallenge } from "../web/login/create_challenge.ts";
import { HAS_REDIS, startRedis } from "../tests/kit/redis_server.ts";
import { comparePairs } from "./pairs.ts";

const LOGINS = 300;
const PAIRS = 15;
const PARALLEL = 32;
const now = () => new Date();
const audiences = ["https://shop.example"];
const input = { scopes: ["email", "profile"] };

const key = await importSigningKey(await generateSigningKey());
const strangers: SigningKey[] = [];
for (let i = 0; i < 500; i++) {
  strangers.push(await importSigningKey(await generateSigningKey()));
}

/** Challenges and their answers, made before the clock runs. */
async function prepare(
  store: RecordStore,
  count: number,
  keys: readonly SigningKey[],
): Promise<string[]> {
  const attestations: string[] = [];
  const challenges = challengesIn(store);
  for (let i = 0; i < count; i++) {
    const challenge = await createChallenge(input, {
      challenges,
      audiences,
      now,
    });
    const key = keys[i % keys.length]!;
    attestations.push(await signAttestation({ challenge, key, now }));
  }
  return attestations;
}

/** The two requests of a login. */
interface Login {
  readonly create: Request;
  readonly verify: Request;
}

/** Requests, made before the clock runs: that is the client's work. */
function requestsOf(attestations: readonly string[]): Login[] {
  return attestations.map((attestation) => ({
    create: post("challenge/create", input),
    verify: post("attestation/verify", { attestation }),
  }));
}

function post(path: string, sent: unknown): Request {
  const body = JSON.stringify(sent);
  return new Request(`https://shop.example/v1/auth/${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-length": String(body.length),
    },
    body,
  });
}

/** Creates as many challenges as it verifies attestations made before. */
async function logIn(app: App, logins: readonly Login[]): Promise<void> {
  for (const { create, verify } of logins) {
    await ask(app, create);
    await ask(app, verify);
  }
}

async function ask(app: App, request: Request): Promise<void> {
  const response = await app.fetch(request);
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
}

const sample = await signAttestation({
  challenge: await createChallenge(input, {
    challenges: challengesIn(await openStore("memory")),
    audiences,
    now,
  }) satisfies Challenge,
  key,
  now,
});
const { signature, signingInput } = parseAttestation(sample);
const publicKey = createPublicKey({
  key: { ...key.publicJwk },
  format: "jwk",
});
function bare(): void {
  for (let i = 0; i < LOGINS; i++) {
    if (!verify(null, signingInput, publicKey, signature)) throw new Error();
  }
}

const us = (ms: number, count: number) =>
  `${(ms * 1000 / count).toFixed(1)} µs`.padStart(10);
const percent = (ratio: number) => `${(100 / ratio).toFixed(0)} %`;

for (
  const [name, keys] of [["known key", [key]], ["new keys", strangers]] as const
) {
  const store = await openStore("memory");
  const batches: Login[][] = [];
  for (let i = 0; i <= PAIRS; i++) {
    batches.push(requestsOf(await prepare(store, LOGINS, keys)));
  }
  // For the others, each batch meets keys that nobody remembers.
  const known = createApp({ store, audiences });
  const app = () =>
    name === "known key" ? known : createApp({ store, audiences });
  const { a, b, ratio } = await comparePairs(
    () => logIn(app(), batches.pop() ?? []),
    bare,
    PAIRS,
  );
  console.log(
    `${name.padEnd(10)} login ${us(a, LOGINS)}   bare verify ${
      us(b, LOGINS)
    }   ${percent(ratio)} of the bare rate (goal: at least 35 %)`,
  );
  await store.close();
}

/** Logins a second, many at once, as a server has them. */
async function rate(storeText: string, count: number): Promise<void> {
  const store = await openStore(storeText);
  const logins = requestsOf(await prepare(store, count, [key]));
  const app = createApp({ store, audiences });
  const start = performance.now();
  await Promise.all(
    Array.from(
      { length: PARALLEL },
      (_, from) => logIn(app, logins.filter((_, i) => i % PARALLEL === from)),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  const name = storeText.split(":")[0]!.padEnd(10);
  console.log(`${name} ${(count / seconds).toFixed(0)} logins/s`);
  await store.close();
}

await rate("memory", 5_000);
if ("openKv" in Deno) {
  const folder = await Deno.makeTempDir();
  await rate(`kv:${folder}/challenges.db`, 500);
  await Deno.remove(folder, { recursive: true });
} else console.log("kv         not measured: needs --unstable-kv");
if (HAS_REDIS) {
  const redis = await startRedis();
  await rate(redis.url, 3_000);
  await redis.stop();
} else console.log("redis      not measured: no redis-server");

const collect = (globalThis as { gc?: () => void }).gc;
const megabytes = () => {
  collect?.();
  return (Deno.memoryUsage().heapUsed / 1024 ** 2).toFixed(1);
};
const challenges = challengesIn(await openStore("memory"));
let ms = Date.parse("2026-01-31T09:00:00Z");
const clock = () => new Date(ms);
console.log(`memory     ${megabytes()} MiB before`);
for (let round = 0; round < 3; round++) {
  for (let i = 0; i < 50_000; i++) {
    await createChallenge(input, { challenges, audiences, now: clock });
  }
  const full = megabytes();
  ms += 360_000;
  // The next one sweeps those that expired.
  await createChallenge(input, { challenges, audiences, now: clock });
  console.log(
    `memory     ${full} MiB with 50,000 challenges, ${megabytes()} MiB after they expired`,
  );
}
if (collect === undefined) console.log("(without --expose-gc: of no meaning)");
