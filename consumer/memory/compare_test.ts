import { assertEquals } from "@std/assert";
import { encodeBase64, type OpenedCheckpoint } from "@sig/jose/proofs";
import { findContradiction, type Shown } from "./compare.ts";
import type { PinnedProof, RememberedPin } from "./pin.ts";

const hash = (byte: number) => new Uint8Array(32).fill(byte);

const PIN: RememberedPin = {
  status: "remembered",
  issuer: "did:web:acme.example",
  first_seen: "2026-06-01T00:00:00Z",
  last_seen: "2026-06-01T00:00:00Z",
  feed: {
    sequence: 5,
    bytes: 5000,
    prefix_sha256: "aa",
    last_event_id: "event-5",
    keys: { k1: "thumb-1", k2: "thumb-2", ["__proto__"]: "thumb-3" },
    etag: null,
    compared_at: "2026-06-01T00:00:00Z",
    read_at: "2026-06-01T00:00:00Z",
  },
  proof: null,
  recovery: null,
  key_added: [],
  inconsistency: null,
  acknowledged: [],
  rewrites: 0,
  rewritten_from: [],
};

const PUBLISHED = new Map([
  ["k1", "thumb-1"],
  ["k2", "thumb-2"],
  ["__proto__", "thumb-3"],
  ["new", "thumb-9"],
]);

/** A checkpoint of three events, and two events seen after it. */
const PROOF: PinnedProof = {
  size: 3,
  root: encodeBase64(hash(3)),
  state: encodeBase64(hash(30)),
  seen: { size: 5, root: encodeBase64(hash(5)) },
  keys: Object.fromEntries(PUBLISHED),
};

/** Changes to a consistent read. */
interface Changes {
  readonly events?: number;
  readonly prefix?: string | undefined;
  readonly replaced?: string;
  readonly gone?: string;
  readonly unauthorized?: string;
  readonly firstDifference?: number;
}

function shown(changes: Changes): Shown {
  const published = new Map(PUBLISHED);
  const { replaced, gone, unauthorized } = changes;
  if (replaced !== undefined) published.set(replaced, "other");
  if (gone !== undefined) published.delete(gone);
  const usable = new Map(published);
  if (unauthorized !== undefined) usable.delete(unauthorized);
  return {
    keys: { published, usable, ended: new Set(), recovery: undefined },
    events: changes.events ?? 5,
    feed: {
      prefixSha256: "prefix" in changes ? changes.prefix : "aa",
      firstDifference: changes.firstDifference,
    },
  };
}

/** Beside the tests of `continuity_test.ts` and `remembered_proofs_test.ts`. */
const FOUND: readonly (readonly [Changes, string, string])[] = [
  // Fewer bytes, but not fewer events.
  [{ prefix: undefined }, "feed_rewritten", "one of the first 5 events is"],
  [{ prefix: "bb", firstDifference: 3 }, "feed_rewritten", "event 3 is not"],
  [{ replaced: "__proto__" }, "key_replaced", "published as __proto__ than"],
  [{ gone: "__proto__" }, "key_withdrawn", "__proto__, which signed"],
  [{ unauthorized: "k1" }, "key_withdrawn", "no longer authorised by the DID"],
  // If several codes apply, the first in the order of precedence is returned.
  [{ events: 4, gone: "k1", prefix: "bb" }, "feed_rolled_back", "sequence 4"],
  [{ replaced: "k2", gone: "k1" }, "key_replaced", "as k2 than"],
  [{ replaced: "k2", unauthorized: "k2" }, "key_replaced", "as k2 than the"],
  [{ gone: "k1", prefix: "bb" }, "key_withdrawn", "key k1, which"],
];

for (const [changes, code, message] of FOUND) {
  Deno.test(`${code}: ${JSON.stringify(changes)}`, () => {
    const error = findContradiction(PIN, shown(changes));
    assertEquals(error?.code, code);
    const plain = error?.message.replaceAll('"', "") ?? "";
    assertEquals(plain.includes(message), true, plain);
    assertEquals(error?.context.remembered_sequence, 5);
    assertEquals(typeof error?.context.hint, "string");
  });
}

Deno.test("a contradiction has sequences, digests and keys in its context", () => {
  const contextOf = (changes: Changes) => {
    const { hint: _, ...rest } =
      findContradiction(PIN, shown(changes))?.context ?? {};
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

Deno.test("a key that no remembered key introduces precedes a rewrite, and follows other keys", () => {
  const { new: _, ...known } = PROOF.keys;
  const pin = { ...PIN, proof: { ...PROOF, keys: known } };
  const show = (changes: Changes) =>
    findContradiction(pin, {
      ...shown(changes),
      checkpoint: {
        ...{ size: 3, bytes: 3000, kids: ["k1"], time: null },
        ...{ root: hash(99), state: hash(30), keys: hash(0) },
        cosignatures: new Map(),
      } as unknown as OpenedCheckpoint,
    })?.code;
  assertEquals(show({ prefix: "bb" }), "key_not_introduced");
  assertEquals(show({ gone: "k1" }), "key_withdrawn");
  assertEquals(show({ events: 4 }), "feed_rolled_back");
});
