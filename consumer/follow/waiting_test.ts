import { assert, assertEquals } from "@std/assert";
import { type CheckAnswer, SigError } from "@sig/core";
import { createConsumer } from "../create_consumer.ts";
import { isUnreachable } from "./back_off.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { startRawServer, untilClosed } from "../../tests/kit/raw_server.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { importTestKeys, lineOf, PATHS } from "../../tests/kit/test_issuer.ts";
import { revoke } from "../../tests/kit/events.ts";
import {
  QUESTION,
  START_MS,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";
import { retry, turns, waitForEqual, within } from "../../tests/kit/wait.ts";

const [key1, , stranger] = await importTestKeys();
const OLD = "what is known is older than 60 s, and refreshing it failed";

/** Returns the number of requests for the metadata, one for each attempt. */
function attempts({ server }: WatchedIssuer): number {
  return server.of(PATHS.metadata).length;
}

/** A `fetch` that knows its requests; the clock of a test stops meanwhile. */
function countedFetch() {
  let inFlight = 0;
  return {
    async fetch(request: Request): Promise<Response> {
      inFlight++;
      try {
        return await fetch(request);
      } finally {
        inFlight--;
      }
    },
    /** Waits until there is no request. */
    async idle(): Promise<void> {
      while (inFlight > 0) await turns(1);
    },
  };
}

Deno.test("while an issuer hangs, questions after the first failure get the error at once, and one attempt runs", async () => {
  await using server = startRawServer((connection) => untilClosed(connection));
  const did = `did:web:127.0.0.1%3A${server.port}`;
  let ms = START_MS;
  const consumer = createConsumer({
    ...{ issuers: [did], allowPrivate: true, totalTimeoutMs: 300 },
    now: () => new Date(ms),
  });
  const ask = () => consumer.check(did, QUESTION);
  const refused = async () => {
    const error = await expectSigError(ask, "fetch_timeout", "300 ms");
    return error.context.retry_after_seconds;
  };
  // Ten attempts that fail together are one failure.
  const together = Array.from({ length: 10 }, refused);
  assertEquals(new Set(await Promise.all(together)), new Set([undefined]));
  const hundred = () =>
    within(
      "questions about a hanging issuer",
      Promise.all(Array.from({ length: 100 }, refused)),
    );
  assertEquals(new Set(await hundred()), new Set([2]));
  assertEquals(server.connections(), 1);
  ms += 1_200;
  // One of them tries again.
  await hundred();
  // The questions wait for it for 100 ms only.
  await waitForEqual(server.connections, 2);
  // A question that needs the issuer now is never delayed.
  await expectSigError(
    () => consumer.check(did, { ...QUESTION, maxAgeMs: 0 }),
    "fetch_timeout",
    "300 ms",
  );
});

Deno.test("the question that tries again does not wait for an attempt that hangs, whose result is kept", async () => {
  await using issuer = await watchIssuer(1, key1);
  const { documents } = issuer.server;
  const metadata = documents.get(PATHS.metadata)! as Uint8Array<ArrayBuffer>;
  documents.set(PATHS.metadata, status(503));
  await expectSigError(() => issuer.check(), "fetch_status", "503");
  const { promise, resolve } = Promise.withResolvers<void>();
  documents.set(PATHS.metadata, async () => {
    await promise;
    return new Response(metadata);
  });
  issuer.wait(1_200);
  for (let i = 0; i < 3; i++) {
    const error = await expectSigError(
      () => within("a question during the attempt", issuer.check()),
      "fetch_status",
      "503",
    );
    assertEquals(error.context.retry_after_seconds, 1);
  }
  resolve();
  let answer: CheckAnswer | undefined;
  while (answer === undefined) {
    await turns(1);
    answer = await issuer.check().catch(() => undefined);
  }
  assertEquals(answer.decision, "allow");
  assertEquals(attempts(issuer), 2);
});

Deno.test("under 50 questions a second a dead issuer gets at most 10 requests a minute, 1, 2, 4, 8 and then 10 s apart", async () => {
  const network = countedFetch();
  await using issuer = await watchIssuer(1, key1, { fetch: network.fetch });
  const { documents } = issuer.server;
  const metadata = documents.get(PATHS.metadata)!;
  documents.set(PATHS.metadata, status(503));
  const begun: number[] = [];
  let seen = 0;
  for (let ms = 0; ms < 120_000; ms += 20) {
    await expectSigError(() => issuer.check(), "fetch_status", "503");
    await network.idle();
    if (attempts(issuer) > seen) begun.push(ms);
    seen = attempts(issuer);
    issuer.wait(20);
  }
  const pauses = begun.slice(1).map((ms, i) => ms - begun[i]!);
  for (const [i, pause] of pauses.entries()) {
    const delay = [1_000, 2_000, 4_000, 8_000][i] ?? 10_000;
    assert(delay <= pause && pause <= delay * 1.2 + 20, `${i}: ${pause} ms`);
  }
  for (const at of begun) {
    const inMinute = begun.filter((ms) => at <= ms && ms < at + 60_000);
    assert(inMinute.length <= 10, `${inMinute}`);
  }
  assertEquals(pauses.length >= 11, true);
  documents.set(PATHS.metadata, metadata);
  issuer.wait(12_000);
  // A question waits for the attempt for 100 ms only.
  assertEquals((await retry(() => issuer.check())).decision, "allow");
  // After a success the delays begin again.
  issuer.wait(60_001);
  documents.set(PATHS.metadata, status(503));
  const error = async () =>
    (await expectSigError(() => issuer.check(), "feed_stale", OLD)).context;
  assertEquals((await error()).retry_after_seconds, undefined);
  assertEquals((await error()).retry_after_seconds, 2);
});

Deno.test("in steady traffic no question waits for the network after the first, and a revoke is seen within the maximum age", async () => {
  const maxAgeMs = 60_000;
  let [waits, ms] = [0, START_MS];
  const network = countedFetch();
  await using issuer = await watchIssuer(1, key1, {
    now: () => new Date(ms),
    maxAgeMs,
    fetch: network.fetch,
  });
  const { consumer, did, lines } = issuer;
  const options = {
    waitFor<T>(_issuer: string, work: () => Promise<T>): Promise<T> {
      waits++;
      return work();
    },
  };
  const revokedMs = START_MS + 87_000;
  const late: number[] = [];
  let oldest = 0;
  for (let i = 0; i < 10_000; i++) {
    ms += 20;
    if (ms === revokedMs) {
      const event = {
        ...revoke(2, { relationship_id: "rel-1", issuer: did }),
      };
      issuer.publish([...lines, await lineOf(event, key1)]);
    }
    const answer = await consumer.check(did, QUESTION, options);
    oldest = Math.max(oldest, answer.freshness!.age_seconds);
    if (answer.decision === "allow" && ms > revokedMs) late.push(ms);
    if (i === 0) waits = 0;
    if (i % 25 === 0) await turns(1);
    await network.idle();
  }
  assertEquals(waits, 0);
  assert(oldest * 1000 <= maxAgeMs);
  assert(late.every((each) => each <= revokedMs + maxAgeMs), `${late.at(-1)}`);
  assertEquals((await consumer.check(did, QUESTION)).decision, "deny");
});

Deno.test("without refreshAhead, a state is used for its maximum age", async () => {
  for (
    const [refreshAhead, expected] of [[false, 1], [undefined, 2]] as const
  ) {
    await using issuer = await watchIssuer(1, key1, { refreshAhead });
    await issuer.check();
    issuer.wait(45_000);
    await issuer.check();
    assertEquals(attempts(issuer), 1);
    issuer.wait(1);
    await issuer.check();
    await issuer.consumer.verify(issuer.did);
    assertEquals(attempts(issuer), expected + 1);
  }
});

Deno.test("a signal ends the wait of its question with its reason, and the refresh continues", async () => {
  await using issuer = await watchIssuer(1, key1, { maxWaiting: 2 });
  const { asked, go } = issuer.holdFeed();
  const other = issuer.check();
  await asked;
  // More than may wait: an ended wait makes room.
  for (let i = 0; i < 3; i++) {
    const stop = new AbortController();
    const question = issuer.check({ signal: stop.signal })
      .catch((error) => error);
    await turns(1);
    stop.abort(`enough ${i}`);
    assertEquals(await question, `enough ${i}`);
  }
  go();
  assertEquals((await other).decision, "allow");
  assertEquals(attempts(issuer), 1);
  const signal = AbortSignal.abort("before");
  const { consumer, did } = issuer;
  for (
    const ask of [
      () => consumer.check(did, { ...QUESTION, signal, maxAgeMs: 0 }),
      () => consumer.checkAny([did], { ...QUESTION, signal, maxAgeMs: 0 }),
    ]
  ) assertEquals(await ask().catch((error) => error), "before");
  assertEquals(attempts(issuer), 1);
});

Deno.test("graceMs: an older state answers as stale while the issuer can't be reached", async () => {
  await using issuer = await watchIssuer(1, key1, { graceMs: 600_000 });
  const { check, server: { documents } } = issuer;
  await check();
  documents.set(PATHS.metadata, status(503));
  const shown = async (changes = {}) => {
    const { decision, freshness } = await check(changes);
    return [decision, freshness?.status, freshness?.age_seconds];
  };
  assertEquals(await shown(), ["allow", "fresh", 0]);
  issuer.wait(100_000);
  assertEquals(await shown(), ["allow", "stale", 100]);
  // Spared: the same without an attempt.
  assertEquals(await shown(), ["allow", "stale", 100]);
  // The question's grace replaces the consumer's, up or down.
  await expectSigError(() => check({ graceMs: 39_999 }), "feed_stale", OLD);
  assertEquals(await shown({ graceMs: 40_000 }), ["allow", "stale", 100]);
  // Only a question itself may say that it goes without current data.
  const current = { maxAgeMs: 0 };
  await expectSigError(() => check(current), "fetch_status", "503");
  assertEquals(
    await shown({ ...current, graceMs: 100_000 }),
    ["allow", "stale", 100],
  );
  await expectSigError(
    () => check({ ...current, graceMs: 99_999 }),
    "fetch_status",
    "503",
  );
  // The state must have the event that the question needs.
  await expectSigError(() => check({ minSequence: 2 }), "feed_stale", OLD);
  issuer.wait(560_000);
  assertEquals(await shown(), ["allow", "stale", 660]);
  issuer.wait(1);
  await expectSigError(() => check(), "feed_stale", OLD);
});

Deno.test("graceMs: a fault or a contradiction holds, also when the issuer falls silent afterwards", async (t) => {
  const faults = {
    "a fault": (issuer: WatchedIssuer) => issuer.publish(["{}"]),
    "a contradiction": (issuer: WatchedIssuer) => issuer.publish([]),
    "another key": (issuer: WatchedIssuer) => issuer.publishKeys([stranger]),
  };
  for (const [name, apply] of Object.entries(faults)) {
    await t.step(name, async () => {
      await using issuer = await watchIssuer(1, key1, { graceMs: 600_000 });
      await issuer.check();
      issuer.wait(70_000);
      apply(issuer);
      const found = await issuer.check().catch((error) => error);
      assert(!isUnreachable(found), found.code);
      issuer.server.documents.set(PATHS.metadata, status(503));
      for (const ms of [0, 20_000]) {
        issuer.wait(ms);
        for (const graceMs of [undefined, 900_000]) {
          const error = await issuer.check({ graceMs })
            .catch((error) => error);
          assert(error instanceof SigError, `${error.decision}`);
        }
      }
    });
  }
});

Deno.test("only an issuer that can't be reached is forgiven", () => {
  const codes = {
    fetch_failed: true,
    fetch_status: true,
    fetch_timeout: true,
    key_unresolvable: true,
    fetch_redirected: false,
    fetch_media_type: false,
    store_unavailable: false,
    checkpoint_stale: false,
    cosignatures_missing: false,
    overloaded: false,
    feed_rolled_back: false,
    signature_invalid: false,
  } as const;
  for (const [code, expected] of Object.entries(codes)) {
    const error = new SigError(code as keyof typeof codes, {
      action: "x",
      reason: "y",
    });
    assertEquals(isUnreachable(error), expected, code);
  }
});

Deno.test("malformed bounds of a wait are refused before anything is fetched", async () => {
  await using issuer = await watchIssuer(1, key1);
  for (const graceMs of [-1, NaN]) {
    const error = await expectSigError(
      () => issuer.check({ graceMs }),
      "invalid_request",
      "Cannot answer: graceMs must be a number, 0 or more",
    );
    assertEquals(error.context.pointer, "/graceMs");
  }
  await expectSigError(
    () => issuer.check({ signal: "no" as unknown as AbortSignal }),
    "invalid_request",
    "Cannot answer: signal must be an AbortSignal",
  );
  assertEquals(issuer.server.exchanges, []);
});
