import { assertEquals } from "@std/assert";
import type { IssuerPin } from "../memory/pin.ts";
import { checkContinuity, type FetchedHistory } from "./check_continuity.ts";

const PIN: IssuerPin = {
  issuer: "did:web:acme.example",
  sequence: 5,
  bytes: 5000,
  prefix_sha256: "aa",
  last_event_id: "event-5",
  keys: { k1: "thumb-1", k2: "thumb-2", ["__proto__"]: "thumb-3" },
  etag: null,
  first_seen: "2026-06-01T00:00:00Z",
  last_seen: "2026-06-01T00:00:00Z",
};

const PUBLISHED = new Map([
  ["k1", "thumb-1"],
  ["k2", "thumb-2"],
  ["__proto__", "thumb-3"],
  ["new", "thumb-9"],
]);

/** Changes to a consistent fetch. */
interface Changes {
  readonly events?: number;
  readonly prefix?: string | undefined;
  readonly replaced?: string;
  readonly gone?: string;
  readonly unauthorized?: string;
  readonly firstDifference?: number;
}

function fetched(changes: Changes): FetchedHistory {
  const published = new Map(PUBLISHED);
  const { replaced, gone, unauthorized } = changes;
  if (replaced !== undefined) published.set(replaced, "other");
  if (gone !== undefined) published.delete(gone);
  const authorized = new Set(published.keys());
  if (unauthorized !== undefined) authorized.delete(unauthorized);
  return {
    keys: { published, authorized },
    events: changes.events ?? 5,
    prefixSha256: "prefix" in changes ? changes.prefix : "aa",
    firstDifference: changes.firstDifference,
  };
}

const CONSISTENT: readonly Changes[] = [
  {},
  { events: 6 },
  { events: 5_000 },
  { gone: "new" },
  { replaced: "new" },
  { unauthorized: "new" },
  // Equal bytes are consistent, regardless of `firstDifference`.
  { firstDifference: 3 },
];

for (const changes of CONSISTENT) {
  Deno.test(`consistent: ${JSON.stringify(changes)}`, () => {
    assertEquals(checkContinuity(PIN, fetched(changes)), undefined);
  });
}

const CONTRADICTIONS: readonly (readonly [Changes, string, string])[] = [
  [{ events: 4 }, "feed_rolled_back", "the feed ends at sequence 4, but 5"],
  [{ events: 0, prefix: undefined }, "feed_rolled_back", "at sequence 0, but"],
  [{ prefix: "bb" }, "feed_rewritten", "one of the first 5 events is not"],
  // Fewer bytes, but not fewer events.
  [{ prefix: undefined }, "feed_rewritten", "one of the first 5 events is"],
  [{ prefix: "bb", events: 9 }, "feed_rewritten", "one of the first 5 events"],
  [{ prefix: "bb", firstDifference: 3 }, "feed_rewritten", "event 3 is not"],
  [{ replaced: "k1" }, "key_replaced", "published as k1 than"],
  [{ replaced: "__proto__" }, "key_replaced", "published as __proto__ than"],
  [{ replaced: "k2", unauthorized: "k2" }, "key_replaced", "as k2 than the"],
  [{ gone: "k2" }, "key_withdrawn", "is no longer published"],
  [{ gone: "__proto__" }, "key_withdrawn", "__proto__, which signed"],
  [{ unauthorized: "k1" }, "key_withdrawn", "no longer authorised by the DID"],
  // If several codes apply, the first of the four is returned.
  [{ events: 4, replaced: "k1" }, "feed_rolled_back", "at sequence 4"],
  [{ events: 4, gone: "k1" }, "feed_rolled_back", "at sequence 4"],
  [{ events: 4, prefix: "bb" }, "feed_rolled_back", "at sequence 4"],
  [{ replaced: "k2", gone: "k1" }, "key_replaced", "as k2 than"],
  [{ replaced: "k1", prefix: "bb" }, "key_replaced", "as k1 than"],
  [{ gone: "k1", prefix: "bb" }, "key_withdrawn", "key k1, which"],
  [
    { events: 1, replaced: "k2", gone: "k1", prefix: undefined },
    "feed_rolled_back",
    "at sequence 1",
  ],
];

for (const [changes, code, message] of CONTRADICTIONS) {
  Deno.test(`${code}: ${JSON.stringify(changes)}`, () => {
    const error = checkContinuity(PIN, fetched(changes));
    assertEquals(error?.code, code);
    const plain = error?.message.replaceAll('"', "") ?? "";
    assertEquals(plain.includes(message), true, plain);
    assertEquals(error?.context.remembered_sequence, 5);
    assertEquals(typeof error?.context.hint, "string");
  });
}

Deno.test("every feed is consistent with the pin of an empty feed", () => {
  const empty = { ...PIN, sequence: 0, bytes: 0, keys: {} };
  for (const events of [0, 1, 9]) {
    assertEquals(checkContinuity(empty, fetched({ events })), undefined);
  }
});

Deno.test("a contradiction has sequences, digests and keys in its context", () => {
  const contextOf = (changes: Changes) => {
    const { hint: _, ...rest } =
      checkContinuity(PIN, fetched(changes))!.context;
    return rest;
  };
  assertEquals(contextOf({ events: 3 }), {
    sequence: 4,
    remembered_sequence: 5,
    fetched_sequence: 3,
  });
  assertEquals(contextOf({ prefix: "bb", events: 7, firstDifference: 2 }), {
    sequence: 2,
    remembered_sequence: 5,
    fetched_sequence: 7,
    remembered_sha256: "aa",
    fetched_sha256: "bb",
  });
  assertEquals(contextOf({ replaced: "k1" }), {
    kid: "k1",
    remembered_thumbprint: "thumb-1",
    published_thumbprint: "other",
    remembered_sequence: 5,
  });
  assertEquals(contextOf({ gone: "k1" }), {
    kid: "k1",
    remembered_sequence: 5,
  });
});
