import { DEFAULT_LIMITS, SigError } from "@sig/core";
import { createKeyResolver } from "@sig/jose";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  feedOf,
  lineOf,
  makeLines,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import {
  bothKeys,
  key1,
  key2,
  stranger,
  verify,
} from "../testdata/verify_lines.ts";
import { isFault } from "./feed_fault.ts";

function* inChunks(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
  }
}

/** Returns code, line and sequence of each fault. */
async function survey(lines: readonly string[]) {
  const { faults } = await verify(feedOf(lines), { maxFaults: 100 });
  return faults.map(({ code, context: { line, sequence } }) => [
    code,
    line,
    sequence,
  ]);
}

Deno.test("with maxFaults, each fault is reported once and verification continues", async () => {
  const good = await makeLines(12, key1);
  const lines = [
    good[0]!,
    "", // takes no sequence
    good[1]!,
    await lineOf(upsert(3), stranger), // takes one
    good[3]!,
    await lineOf(upsert(5, { event_id: "event-1" }), key1),
    await lineOf(upsert(6, { issuer: "did:web:other.example" }), key1),
    good[6]!,
    good[6]!, // is repeated
    good[7]!,
    good[9]!, // 9 is missing
    good[10]!,
    "{}",
    "not json",
    good[11]!, // follows two lines of unknown sequence
  ];
  assertEquals(await survey(lines), [
    ["invalid_line", 2, 2],
    ["signature_invalid", 4, 3],
    ["duplicate_event_id", 6, 5],
    ["issuer_mismatch", 7, 6],
    ["sequence_out_of_order", 9, 7],
    ["sequence_gap", 11, 10],
    ["invalid_envelope", 13, 12],
    ["invalid_line", 14, 13],
  ]);
});

Deno.test("with maxFaults, a forged sequence does not cause further faults", async () => {
  const good = await makeLines(4, key1);
  const forged = await lineOf(upsert(2 ** 53 - 1), stranger);
  assertEquals(await survey([good[0]!, forged, good[1]!, good[2]!, good[3]!]), [
    ["signature_invalid", 2, 2 ** 53 - 1],
  ]);
});

Deno.test("with maxFaults, an incomplete last line is reported too", async () => {
  const [first] = await makeLines(1, key1);
  const bytes = new TextEncoder().encode(`${first}\n{}\n${first}`);
  const { faults } = await verify(bytes, { maxFaults: 100 });
  assertEquals(faults.map(({ code }) => code), [
    "invalid_envelope",
    "incomplete_line",
  ]);
});

Deno.test("with maxFaults, reading stops at the maximum", async () => {
  let pulled = 0;
  function* source(): Generator<Uint8Array> {
    for (;;) {
      pulled++;
      yield feedOf(["{}", "{}"]);
    }
  }
  const { faults } = await verify(source(), { maxFaults: 5 });
  assertEquals([faults.length, pulled], [5, 3]);
});

Deno.test("the line limit allows n bytes but not n + 1", async () => {
  const [line] = await makeLines(1, key1);
  const feed = feedOf([line!]);
  const n = line!.length;
  for (const size of [1, 1000, feed.length]) {
    for (const maxLineBytes of [n, n + 1]) {
      const limits = { ...DEFAULT_LIMITS, maxLineBytes };
      await verify(inChunks(feed, size), { limits });
    }
    const limits = { ...DEFAULT_LIMITS, maxLineBytes: n - 1 };
    const error = await expectSigError(
      () => verify(inChunks(feed, size), { limits }),
      "line_too_long",
      `Cannot verify feed: line 1 is longer than ${n - 1} bytes`,
    );
    assertEquals(error.context, { line: 1, sequence: 1, limit: n - 1 });
  }
});

Deno.test("the limits of bytes and events allow n but not n + 1", async () => {
  const feed = feedOf(await makeLines(3, key1));
  for (
    const [name, n, code, message] of [
      ["maxFeedBytes", feed.length, "feed_too_large", "it is larger than"],
      ["maxEvents", 3, "too_many_events", "it has more than 2 events"],
    ] as const
  ) {
    await verify(feed, { limits: { ...DEFAULT_LIMITS, [name]: n } });
    const limits = { ...DEFAULT_LIMITS, [name]: n - 1 };
    for (const maxFaults of [undefined, 100]) {
      const error = await expectSigError(
        () => verify(feed, { limits, maxFaults }),
        code,
        message,
      );
      assert(!isFault(error), "a limit of ours is not a fault of the feed");
    }
  }
});

Deno.test("after a fault, the source is closed and not read further", async () => {
  const [line] = await makeLines(1, key1);
  let pulled = 0;
  let closed = false;
  function* source(): Generator<Uint8Array> {
    try {
      for (const text of [line!, "{}", line!, line!]) {
        pulled++;
        yield feedOf([text]);
      }
    } finally {
      closed = true;
    }
  }
  await expectSigError(
    () => verify(source()),
    "invalid_envelope",
    "Cannot verify feed: member protected is missing",
  );
  assertEquals([pulled, closed], [2, true]);
});

Deno.test("passes each verified event on once, in order", async () => {
  const lines = [
    ...await makeLines(2, key1),
    await lineOf(upsert(3), stranger),
    await lineOf(upsert(4), key2),
  ];
  const passed: unknown[] = [];
  await verify(feedOf(lines), {
    keys: bothKeys,
    maxFaults: 100,
    onEvent: ({ event, kid, line }) => passed.push([event.sequence, kid, line]),
  });
  assertEquals(passed, [
    [1, "orgsign-1", 1],
    [2, "orgsign-1", 2],
    [4, "orgsign-2", 4],
  ]);
});

Deno.test("an error of the callback is not a fault of the feed", async () => {
  const feed = feedOf(await makeLines(2, key1));
  const own = new SigError("invalid_field", {
    action: "note event",
    reason: "no room",
  });
  for (const backend of ["web", "node"] as const) {
    const resolver = await createKeyResolver(
      { keys: [key1.publicJwk] },
      { backend },
    );
    for (const maxFaults of [undefined, 100]) {
      const error = await verify(feed, {
        keys: resolver,
        maxFaults,
        onEvent: () => {
          throw own;
        },
      }).catch((error: unknown) => error);
      assertStrictEquals(error, own, backend);
    }
  }
});
