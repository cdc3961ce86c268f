import { assertEquals } from "@std/assert";
import { SigError } from "@sig/core";
import {
  accept,
  answerable,
  fail,
  heldBytes,
  noteRefetch,
  recordOf,
  type Refreshed,
} from "./issuer_record.ts";

const PIN = { issuer: "did:web:acme.example", sequence: 1, bytes: 100 };
const AT = new Date("2026-06-01T00:00:00Z");

/** What a refresh found, as far as a record looks at it. */
const REFRESHED = {
  pin: PIN,
  reduced: { ...PIN },
  feed: { verification: { isIntact: true, events: 1 } },
  observation: { observedAt: AT },
  documents: new Map([["jwks", { bytes: new Uint8Array(20) }]]),
} as unknown as Refreshed;

Deno.test("a record is a value: what comes of it is another, and it stays", () => {
  const first = Object.freeze(recordOf());
  assertEquals([answerable(first), heldBytes(first)], [undefined, 0]);
  const good = Object.freeze(accept(first, REFRESHED));
  assertEquals(heldBytes(good), 120);
  const refetched = Object.freeze(noteRefetch(good, AT));
  const rewritten = new SigError("feed_rewritten", "Cannot trust feed: why");
  const bad = Object.freeze(fail(refetched, rewritten, false));
  assertEquals(answerable(bad), undefined);
  assertEquals(answerable(good), REFRESHED.observation);
  assertEquals(
    [first, good, refetched, bad].map((
      { pin, isSuspended, inconsistency, keysRefetchedAt, pinned },
    ) => [
      pin?.sequence,
      isSuspended,
      inconsistency,
      keysRefetchedAt,
      pinned?.inconsistency,
      pinned?.keysRefetchedAt,
    ]),
    [
      [undefined, false, undefined, undefined, undefined, undefined],
      [1, false, undefined, undefined, undefined, undefined],
      [1, false, undefined, AT, undefined, AT],
      [1, true, "feed_rewritten", AT, "feed_rewritten", AT],
    ],
  );
  // In order again: answered from, and still said to have been otherwise.
  const again = accept(bad, REFRESHED);
  assertEquals(answerable(again), REFRESHED.observation);
  assertEquals(again.inconsistency, "feed_rewritten");
});

Deno.test("what can't be reached leaves the state, unless other bytes were seen", () => {
  const good = accept(recordOf(), REFRESHED);
  const away = new SigError("fetch_timeout", "Cannot fetch: it took too long");
  assertEquals(answerable(fail(good, away, false)), REFRESHED.observation);
  assertEquals(answerable(fail(good, away, true)), undefined);
  assertEquals(answerable(fail(good, new Error("other"), false)), undefined);
});

Deno.test("nothing goes on from a verification that went on before the failure", () => {
  const away = new SigError("fetch_timeout", "Cannot fetch: it took too long");
  const good = accept(recordOf(), REFRESHED);
  assertEquals(fail(good, away, false).held, good.held);
  for (
    const verification of [
      { isIntact: false, events: 1 },
      { isIntact: true, events: 2 },
    ]
  ) {
    const gone = { ...REFRESHED, feed: { verification } };
    const { held } = fail(
      accept(recordOf(), gone as unknown as Refreshed),
      away,
      false,
    );
    assertEquals(held?.feed, undefined);
    assertEquals(held?.observation, REFRESHED.observation);
  }
});
