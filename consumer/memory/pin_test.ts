import { SigError } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { MAX_RECORD_BYTES } from "../store/record_store.ts";
import {
  beginningOf,
  type KnownPin,
  nameKids,
  type RememberedPin,
  shortenKids,
  shortOrNull,
  storedKid,
  UNKNOWN,
} from "./pin.ts";
import {
  CURSORS,
  decodePin,
  encodePin,
  encodeRecord,
  PINS,
} from "./pin_record.ts";
import { acknowledge, JUDGE_AGAIN, next, type Outcome } from "./transitions.ts";

const ISSUER = "did:web:acme.example";
const AT = "2026-06-01T00:00:00Z";

/** The longest kids, of characters of four bytes in UTF-8. */
const LONG = Array.from({ length: 256 }, (_, i) => {
  const number = String(i).padStart(3, "0");
  return "\u{1F600}".repeat(256 - 3) + number;
});
/** Kids that are stored as they are, of the largest size. */
const WHOLE = Array.from(
  { length: 256 },
  (_, i) => "\u{1F600}".repeat(17) + String(i).padStart(3, "0"),
);

const keysOf = (kids: readonly string[]) =>
  shortenKids(kids.map((kid) => [kid, "t".repeat(43)]));

/** Returns the pin after everything that an issuer can make it remember. */
async function largestPin(kids: readonly string[]): Promise<KnownPin> {
  const hash = "h".repeat(44);
  const keys = await keysOf(kids);
  const proofKeys = await keysOf(kids.slice(0, 100));
  const text = shortOrNull("\u0001".repeat(85)) ?? "";
  const feed: Outcome = {
    kind: "feed",
    ...{ at: AT, issuer: ISSUER },
    feed: {
      sequence: Number.MAX_SAFE_INTEGER,
      bytes: Number.MAX_SAFE_INTEGER,
      prefix_sha256: "0".repeat(64),
      ...{ last_event_id: text, etag: text, keys },
      ...{ compared_at: AT, read_at: AT },
    },
    proof: {
      ...{ size: 2 ** 52, root: hash, state: hash, keys: proofKeys },
      seen: { size: 2 ** 52, root: hash },
    },
    recovery: null,
    addedKids: Object.keys(keys),
  };
  const contradiction: Outcome = {
    kind: "contradiction",
    ...{ at: AT, error: new SigError("key_not_introduced", { reason: "r" }) },
    detail: beginningOf(`Cannot trust feed: ${LONG[0]}\u0001`.repeat(9), 2_000),
    served: {
      ...{ size: 2 ** 52, root: hash, state: hash },
      ...{ keys: hash, statements: "f".repeat(64) },
    },
  };
  let pin = known(next(UNKNOWN, feed));
  for (let nth = 0; nth < 100; nth++) {
    pin = acknowledge(pin, {
      ...feed,
      reason: "\u{1F600}".repeat(1_000),
      code: "feed_rewritten",
      changedFrom: Number.MAX_SAFE_INTEGER,
    });
  }
  return known(next(pin, contradiction));
}

function known(pin: ReturnType<typeof next>): KnownPin {
  assert(pin !== JUDGE_AGAIN && pin.status !== "unknown");
  return pin;
}

Deno.test("a contradiction is recorded whatever 256 keys an issuer publishes", async () => {
  for (const kids of [LONG, WHOLE]) {
    const pin = await largestPin(kids);
    assertEquals(pin.status, "contradicted");
    assertEquals(Object.keys(pin.feed?.keys ?? {}).length, 256);
    const text = await encodePin(pin);
    const bytes = new TextEncoder().encode(text).length;
    assert(bytes <= MAX_RECORD_BYTES, `${bytes} bytes`);
    assertEquals(await decodePin("here", ISSUER, text), pin);
    // The first acknowledgements go, the last remains.
    assert(pin.acknowledged.length > 0);
  }
});

Deno.test("an altered pin, and the text of another record, are rejected", async () => {
  const pin = await largestPin([]);
  const text = await encodePin(pin);
  const name = { kind: PINS, id: "did:web:other.example" };
  const altered = [
    ...[
      ['"sequence":9', '"sequence":8'],
      ['"first_seen":"2026', '"first_seen":"2027'],
      ['"status":"contradicted"', '"status":"remembered"'],
      ['"recovery":null', '"recovery":nul'],
      [/^[0-9a-f]{64} /, ""],
    ].map(([from, to]) => text.replace(from!, String(to))),
    await encodeRecord(name, pin),
    await encodeRecord({ kind: CURSORS, id: ISSUER }, pin),
  ];
  for (const each of altered) {
    assert(each !== text);
    await expectSigError(
      () => decodePin("here", ISSUER, each),
      "store_unavailable",
      `Cannot use store here: the pin of ${ISSUER} is damaged`,
    );
  }
});

Deno.test("long kids are stored as digests, and compared by kid", async () => {
  const keys = await keysOf(LONG);
  assert(Object.keys(keys).every((kid) => kid.startsWith("sha256:")));
  const { feed } = await largestPin(LONG);
  assert(feed !== null);
  const pin = { status: "remembered", feed, proof: null } as RememberedPin;
  const named = await nameKids(pin, LONG);
  assertEquals(Object.keys(named.feed?.keys ?? {}).sort(), LONG.toSorted());
  // A short kid that looks like a digest is not replaced.
  assertEquals(await storedKid("sha256:x"), "sha256:x");
});

Deno.test("a pin of version 2 is read without losing anything but its lines", async () => {
  const proof = {
    ...{ size: 2, root: "r", state: "s", seen: 3, keys: { k1: "t" } },
    last_seen: "2026-05-03T00:00:00Z",
  };
  const feed = {
    ...{ sequence: 3, bytes: 300, prefix_sha256: "aa", last_event_id: "e3" },
    ...{ keys: { k1: "t" }, etag: '"x"' },
  };
  const old = {
    pin: {
      ...feed,
      issuer: ISSUER,
      first_seen: "2026-05-01T00:00:00Z",
      last_seen: "2026-05-02T00:00:00Z",
      proof,
    },
    ...{ place: "https://x", source: "https", public_only: true, policy: "p" },
    compared_at: AT,
    unusable: true,
    last_contradiction: "feed_rewritten",
    incident: {
      ...{ code: "feed_rewritten", since: AT, detail: "d" },
      seen: { sequence: 3, sha256: "bb", keys: { k1: "t" } },
    },
    acknowledged: [{ at: AT, reason: "r", code: null }],
    rewritten_from: [2],
    lines: { table: 1, sha256: "cc" },
  };
  const text = await encodeRecord({ kind: PINS, id: ISSUER }, old);
  assertEquals(await decodePin("here", ISSUER, text), {
    status: "contradicted",
    issuer: ISSUER,
    first_seen: "2026-05-01T00:00:00Z",
    last_seen: "2026-05-03T00:00:00Z",
    feed: { ...feed, compared_at: AT, read_at: "2026-05-02T00:00:00Z" },
    proof: {
      ...{ size: 2, root: "r", state: "s", keys: { k1: "t" } },
      // The events after the checkpoint were counted only.
      seen: { size: 3, root: null },
    },
    recovery: null,
    key_added: [],
    inconsistency: "feed_rewritten",
    acknowledged: [{ at: AT, reason: "r", code: null }],
    rewrites: 1,
    rewritten_from: [2],
    incident: {
      ...{ code: "feed_rewritten", since: AT, detail: "d" },
      seen: null,
    },
  });
});
