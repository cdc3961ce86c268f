import { assert, assertEquals } from "@std/assert";
import { SigError } from "@sig/core";
import { isUnreachable } from "./back_off.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { importTestKeys, lineOf, PATHS } from "../../tests/kit/test_issuer.ts";
import { revoke } from "../../tests/kit/events.ts";
import {
  QUESTION,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";
import { turns } from "../../tests/kit/wait.ts";

const [key1, , stranger] = await importTestKeys();
const OLD = "what is known is older than 60 s, and refreshing it failed";

/** Returns the number of requests for the metadata, one for each attempt. */
function attempts({ server }: WatchedIssuer): number {
  return server.of(PATHS.metadata).length;
}

Deno.test("in steady traffic no question waits for the network after the first, and a revoke is seen within the maximum age", async () => {
  let [inFlight, waits] = [0, 0];
  await using issuer = await watchIssuer(1, key1, {
    async fetch(request) {
      inFlight++;
      return await fetch(request).finally(() => inFlight--);
    },
  });
  const { consumer, did, lines } = issuer;
  const end = revoke(2, { relationship_id: "rel-1", issuer: did });
  const revoked = [...lines, await lineOf({ ...end }, key1)];
  const waitFor = <T>(_issuer: string, work: () => Promise<T>) => {
    waits++;
    return work();
  };
  for (let ms = 0; ms <= 200_000; ms += 100) {
    if (ms === 87_000) issuer.publish(revoked);
    const asked = await consumer.check(did, QUESTION, { waitFor });
    assert(asked.freshness!.age_seconds <= 60);
    assert(ms <= 87_000 + 60_000 || asked.decision === "deny", `${ms} ms`);
    if (ms === 0) waits = 0;
    issuer.wait(100);
    // The clock stops during a request.
    do await turns(1); while (inFlight > 0);
  }
  assertEquals(waits, 0);
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
  const before = attempts(issuer);
  assertEquals(await shown(), ["allow", "stale", 100]);
  // Attempts are delayed, but not that of a question that needs current data.
  assertEquals(attempts(issuer), before);
  // The question's grace replaces the consumer's, up or down.
  await expectSigError(() => check({ graceMs: 39_999 }), "feed_stale", OLD);
  assertEquals(await shown({ graceMs: 40_000 }), ["allow", "stale", 100]);
  // Only a question itself may say that it goes without current data.
  const current = { maxAgeMs: 0 };
  await expectSigError(() => check(current), "fetch_status", "503");
  assertEquals(attempts(issuer), before + 1);
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
