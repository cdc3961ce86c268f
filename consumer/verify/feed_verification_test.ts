import { assertEquals, assertRejects } from "@std/assert";
import { DEFAULT_LIMITS } from "@sig/core";
import { FeedVerification } from "./feed_verification.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { countYields } from "../../tests/kit/wait.ts";
import { key1, keys } from "../testdata/verify_lines.ts";
import {
  DID,
  feedOf,
  lineOf,
  makeLines,
  NOW,
  upsert,
} from "../../tests/kit/test_issuer.ts";

function start(): FeedVerification {
  return new FeedVerification({ issuer: DID, publicOnly: true });
}

Deno.test("verifying a feed in parts gives the same result as verifying it as a whole", async () => {
  const lines = await makeLines(6, key1);
  const whole = start();
  await whole.read([feedOf(lines)], { keys, now: NOW });
  for (let at = 0; at <= 6; at++) {
    const parts = start();
    await parts.read([feedOf(lines.slice(0, at))], { keys, now: NOW });
    const early = parts.result();
    await parts.read([feedOf(lines.slice(at))], { keys, now: NOW });
    const { state, ...rest } = parts.result();
    const { state: expected, ...others } = whole.result();
    assertEquals(rest, others);
    assertEquals(state.by_relationship_id, expected.by_relationship_id);
    assertEquals(state.last_sequence, 6);
    assertEquals(parts.lastEventId, "event-6");
    // The earlier result is unchanged.
    assertEquals(early.verifiedEvents, at);
    assertEquals(early.state.last_sequence, at);
    assertEquals(early.state.by_relationship_id.size, at);
  }
});

Deno.test("a later reading uses a later clock", async () => {
  const verification = start();
  const at = (hour: number) => ({
    keys,
    now: new Date(`2026-06-01T0${hour}:00:00Z`),
  });
  const issued = (sequence: number) =>
    lineOf(upsert(sequence, { issued_at: "2026-06-01T01:00:00Z" }), key1);
  await verification.read([feedOf([await issued(1)])], at(0));
  await verification.read([feedOf([await issued(2)])], at(1));
  assertEquals(
    verification.result().warnings.map(({ code, sequence, line }) => [
      code,
      sequence,
      line,
    ]),
    [["issued_at_future", 1, 1]],
  );
});

Deno.test("line numbers and limits count from the start of the feed", async () => {
  const lines = await makeLines(3, key1);
  const bytes = feedOf(lines);
  const first = feedOf(lines.slice(0, 2));
  const verification = start();
  await verification.read([first], { keys, now: NOW });
  const error = await expectSigError(
    () => verification.read([feedOf(["{}"])], { keys, now: NOW }),
    "invalid_envelope",
    "Cannot verify feed",
  );
  assertEquals([error.context.line, error.context.sequence], [3, 3]);
  const small = new FeedVerification({
    issuer: DID,
    publicOnly: true,
    limits: { ...DEFAULT_LIMITS, maxFeedBytes: bytes.length - 1 },
  });
  await small.read([first], { keys, now: NOW });
  await expectSigError(
    () => small.read([bytes.subarray(first.length)], { keys, now: NOW }),
    "feed_too_large",
    "Cannot read feed: it is larger than",
  );
});

Deno.test("a verification that failed can't continue", async () => {
  const lines = await makeLines(2, key1);
  const verification = start();
  await verification.read([feedOf(lines.slice(0, 1))], { keys, now: NOW });
  assertEquals(verification.isIntact, true);
  async function* broken() {
    yield feedOf(lines.slice(1));
    await Promise.reject(new Error("cable"));
  }
  await assertRejects(
    () => verification.read(broken(), { keys, now: NOW }),
    Error,
    "cable",
  );
  assertEquals(verification.isIntact, false);
  await assertRejects(
    () => verification.read([], { keys, now: NOW }),
    TypeError,
    "Cannot continue: the verification has failed",
  );
});

Deno.test("reads no more of a chunk after the maximum number of faults", async () => {
  const limits = { ...DEFAULT_LIMITS, maxLineBytes: 64 };
  const verification = new FeedVerification({
    issuer: DID,
    publicOnly: true,
    limits,
  });
  const yields = countYields();
  // The empty lines that follow would be other faults, and enough for a yield.
  const text = "{}\n".repeat(3) + "\n".repeat(100_000);
  await verification.read([new TextEncoder().encode(text)], {
    keys,
    now: NOW,
    maxFaults: 3,
    ...yields,
  });
  const { faults } = verification.result();
  assertEquals(faults.map(({ context }) => context.line), [1, 2, 3]);
  assertEquals(yields.count, 0);
});

Deno.test("yields to the event loop after 128 lines or 256 KiB", async () => {
  const countFor = async (lines: readonly string[]) => {
    const yields = countYields();
    await start().read([feedOf(lines)], { keys, now: NOW, ...yields });
    return yields.count;
  };
  const short = await makeLines(260, key1);
  assertEquals(await countFor(short.slice(0, 127)), 0);
  assertEquals(await countFor(short), 2);
  const long: string[] = [];
  for (let i = 1; i <= 20; i++) {
    const metadata = { text: "x".repeat(40_000) };
    long.push(await lineOf(upsert(i, { metadata }), key1));
  }
  // Each line has 54 KB, so it yields after every fifth line.
  assertEquals(await countFor(long), 4);
});
