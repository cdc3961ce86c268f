import { createHash, createPublicKey, verify } from "node:crypto";
import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";
import { DEFAULT_LIMITS, type ErrorCode, SigError } from "@sig/core";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import {
  DID,
  feedOf,
  importTestKeys,
  lineOf,
  NOW,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { readTestKeys } from "../../tests/kit/vectors.ts";
import {
  AT,
  chunksFor,
  CountedWorkers,
  good,
  keys,
  LINES,
  outcome,
  sameOutcome,
  withLines,
} from "../testdata/large_feed.ts";
import { SignatureWorkers, type SignedMessage } from "./signature_workers.ts";
import { verifyFeed } from "./verify_feed.ts";
import type { VerifyFeedOptions } from "./verified_feed.ts";
import { turns } from "../../tests/kit/wait.ts";

// promise: Workers only confirm signatures; the reader chooses the key and
//   verifies all else.

const [key1, key2, stranger] = await importTestKeys();

/** Returns the code and line of the thrown error. */
function thrown(result: Awaited<ReturnType<typeof outcome>>) {
  assert("thrown" in result && result.thrown !== undefined);
  return [result.thrown.code, result.thrown.context.line];
}

function signedBy(line: string, other: string): string {
  const { signature } = JSON.parse(other);
  return JSON.stringify({ ...JSON.parse(line), signature });
}

Deno.test("a feed gives the same result with workers as without", async () => {
  const result = await sameOutcome(feedOf(good));
  assert("verifiedEvents" in result);
  assertEquals(result.verifiedEvents, LINES);
  assertEquals(result.events.length, LINES);
  const torn = await sameOutcome(feedOf(good).slice(0, -1));
  assertEquals(thrown(torn), ["incomplete_line", LINES]);
});

const forged = await lineOf(upsert(AT + 1), stranger);
const FAULTY: Readonly<Record<string, readonly [Uint8Array, ErrorCode]>> = {
  "a forged line": [withLines(forged), "signature_invalid"],
  "another event's signature": [
    withLines(signedBy(good[AT]!, good[AT + 1]!)),
    "signature_invalid",
  ],
  "a signature of another length": [
    withLines(JSON.stringify({ ...JSON.parse(good[AT]!), signature: "" })),
    "signature_invalid",
  ],
  "an unknown key": [
    withLines(await lineOf(upsert(AT + 1), key2)),
    "key_not_found",
  ],
  "a gap": [withLines(good[AT + 1]!), "sequence_gap"],
  "a repeated event": [withLines(good[AT - 1]!), "sequence_out_of_order"],
  "an invalid payload": [
    withLines(await lineOf(upsert(AT + 1, { valid_from: "soon" }), key1)),
    "invalid_field",
  ],
  "a line that is too long": [withLines("x".repeat(70_000)), "line_too_long"],
  "bytes that are not UTF-8": [
    withLines(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d, 0x0a)),
    "invalid_line",
  ],
  "an empty line": [withLines(""), "invalid_line"],
  "a signature over the escaped payload": [
    withLines(await signedAsSpelled()),
    "signature_invalid",
  ],
  "a signature that only the platform accepts": [
    withLines(signedWithNeutralPoint()),
    "signature_invalid",
  ],
};

/**
 * Returns a line whose signature is over its escaped text, not over the parsed
 * payload.
 */
async function signedAsSpelled(): Promise<string> {
  const { protected: header, payload } = JSON.parse(good[AT]!);
  const code = payload.charCodeAt(0).toString(16).padStart(4, "0");
  const spelled = `\\u${code}${payload.slice(1)}`;
  const input = new TextEncoder().encode(`${header}.${spelled}`);
  const signature = encodeBase64Url(await key1.sign(input));
  const line =
    `{"protected":"${header}","payload":"${spelled}","signature":"${signature}"}`;
  assertEquals(JSON.parse(line).payload, payload);
  return line;
}

/**
 * Returns a line whose signature node:crypto accepts and the strict rules
 * refuse.
 */
function signedWithNeutralPoint(): string {
  const { protected: header, payload } = JSON.parse(good[AT]!);
  const input = new TextEncoder().encode(`${header}.${payload}`);
  const signature = signWithNeutralPoint(input);
  const key = createPublicKey({ key: { ...key1.publicJwk }, format: "jwk" });
  assert(verify(null, input, key, signature));
  return signedBy(
    good[AT]!,
    JSON.stringify({ signature: encodeBase64Url(signature) }),
  );
}

Deno.test("with workers, a fault is the same on the same line", async (t) => {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  workers.join();
  for (const [name, [bytes, code]] of Object.entries(FAULTY)) {
    await t.step(name, async () => {
      const result = await sameOutcome(bytes, undefined, workers);
      assertEquals(thrown(result), [code, AT + 1]);
      assertEquals(result.events.length, AT);
    });
  }
  workers.leave();
});

Deno.test("with workers, many faults of all kinds are reported in order", async () => {
  const lines = [...good];
  const { signature: _, ...unsigned } = JSON.parse(good[0]!);
  for (let i = 100; i < LINES; i += 19) {
    const line = good[i]!;
    lines[i] = [
      forged,
      "",
      signedBy(line, good[i - 1]!),
      JSON.stringify({ ...JSON.parse(line), signature: "AAAA" }),
      JSON.stringify(unsigned),
      "x".repeat(66_000),
    ][i % 6]!;
  }
  for (const maxFaults of [3, 100]) {
    const survey = await sameOutcome(feedOf(lines), () => ({ maxFaults }));
    assert("faults" in survey && survey.faults !== undefined);
    assertEquals(survey.faults.length, Math.min(maxFaults, 11));
  }
});

Deno.test("the first of two faults counts, also if the later one is a read error", async () => {
  const bytes = withLines(forged);
  const limits = { ...DEFAULT_LIMITS, maxFeedBytes: bytes.length - 1 };
  const tooLarge = await sameOutcome(bytes, () => ({ limits }));
  assertEquals(thrown(tooLarge), ["signature_invalid", AT + 1]);
  const broken = new SigError("fetch_failed", {
    action: "fetch",
    reason: "it broke off",
  });
  const torn = await sameOutcome(async function* (workers) {
    yield* chunksFor(workers, bytes);
    throw broken;
  });
  assertEquals(thrown(torn), ["signature_invalid", AT + 1]);
  const whole = await sameOutcome(async function* (workers) {
    yield* chunksFor(workers, feedOf(good));
    throw broken;
  });
  assertEquals(thrown(whole), ["fetch_failed", undefined]);
  assertEquals(whole.events.length, LINES);
});

Deno.test("a small feed starts no worker", async () => {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  await outcome(
    (workers) => chunksFor(workers, feedOf(good.slice(0, 40))),
    workers,
    {},
  );
  assertEquals([workers.batches, workers.size], [0, 0]);
});

Deno.test("workers start immediately for a feed announced as large, but not in a server", async () => {
  const MUCH = 100 * 1024 * 1024;
  const seen = async (options: Partial<VerifyFeedOptions>) => {
    const workers = new CountedWorkers({ maxWorkers: 1 });
    let atFirst = 0;
    async function* bytes() {
      await Promise.resolve();
      atFirst = workers.size;
      yield feedOf(good.slice(-3));
    }
    await outcome(bytes, workers, { maxFaults: 10, ...options });
    assertEquals(workers.size, 0);
    return atFirst;
  };
  const yieldToEventLoop = () => Promise.resolve();
  assertEquals(await seen({ expectedBytes: MUCH }), 1);
  assertEquals(await seen({ expectedBytes: 1_000 }), 0);
  assertEquals(await seen({ expectedBytes: NaN }), 0);
  assertEquals(await seen({}), 0);
  assertEquals(await seen({ expectedBytes: MUCH, yieldToEventLoop }), 0);
});

Deno.test("concurrent readers share the workers, and the last reader ends them", async () => {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  let most = 0;
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      outcome(
        async function* (workers) {
          for await (
            const chunk of chunksFor(
              workers,
              i === 3 ? withLines(forged) : feedOf(good),
            )
          ) {
            most = Math.max(most, workers.size);
            yield chunk;
          }
        },
        workers,
        // As in a server, which yields to other requests.
        { yieldToEventLoop: turns },
      )),
  );
  assertEquals([most, workers.size], [2, 0]);
  assert(workers.answered > 8);
  const ends = results.map((each) => "thrown" in each ? 1 : 0);
  assertEquals(ends, [0, 0, 0, 1, 0, 0, 0, 0]);
});

Deno.test("aborting a verification ends its workers", async () => {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  const stop = new Error("enough");
  let events = 0;
  const error = await verifyFeed(chunksFor(workers, feedOf(good)), {
    issuer: DID,
    keys,
    publicOnly: true,
    now: NOW,
    workers,
    onEvent: () => {
      if (++events === AT) throw stop;
    },
  }).catch((error) => error);
  assertStrictEquals(error, stop);
  assert(workers.batches > 0);
  assertEquals(workers.size, 0);
});

Deno.test("with workers, a line may use any valid JSON spelling", async () => {
  const { protected: header, payload, signature } = JSON.parse(good[AT]!);
  const result = await sameOutcome(withLines(
    JSON.stringify({ signature, payload, protected: header }),
    JSON.stringify(JSON.parse(good[AT + 1]!), null, " ").replaceAll("\n", " "),
    good[AT + 2]!.replace('"payload"', '"p\\u0061yload"'),
  ));
  assert("verifiedEvents" in result);
  assertEquals(result.verifiedEvents, LINES);
});

/**
 * Signs with the neutral element as R, which RFC 8032 verification accepts: S =
 * k·a mod L.
 */
function signWithNeutralPoint(message: Uint8Array): Uint8Array {
  const sha512 = (...parts: readonly Uint8Array[]) => {
    const hash = createHash("sha512");
    for (const part of parts) hash.update(part);
    return Uint8Array.from(hash.digest());
  };
  const integer = (bytes: Uint8Array) =>
    BigInt(`0x${bytes.toReversed().toHex()}`);
  const { d, x } = readTestKeys()[0]!;
  const seed = sha512(decodeBase64Url(d)).slice(0, 32);
  seed[0] = seed[0]! & 248;
  seed[31] = seed[31]! & 127 | 64;
  const r = new Uint8Array(32);
  r[0] = 1;
  const k = integer(sha512(r, decodeBase64Url(x), message));
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = (k * integer(seed) % order).toString(16).padStart(64, "0");
  const signature = new Uint8Array(64);
  signature.set(r);
  signature.set(Uint8Array.fromHex(s).toReversed(), 32);
  return signature;
}

Deno.test("a long feed keeps only a few batches in memory", async () => {
  let batches = 0;
  let held = 0;
  let most = 0;
  class Watched extends SignatureWorkers {
    override async verify(
      batch: readonly SignedMessage[],
    ): Promise<Uint8Array | undefined> {
      batches++;
      most = Math.max(most, ++held);
      const verdicts = await super.verify(batch);
      held--;
      return verdicts;
    }
  }
  const workers = new Watched({ maxWorkers: 1 });
  const pad = "x".repeat(30_000);
  const lines: string[] = [];
  for (let i = 1; i <= 300; i++) {
    lines.push(await lineOf(upsert(i, { metadata: { pad } }), key1));
  }
  const { verifiedEvents } = await verifyFeed(
    chunksFor(workers, feedOf(lines)),
    { issuer: DID, keys, publicOnly: true, now: NOW, workers },
  );
  assertEquals(verifiedEvents, 300);
  assert(batches > 40, String(batches));
  assert(most <= 5, String(most));
});
