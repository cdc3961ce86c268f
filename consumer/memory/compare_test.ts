import { assertEquals } from "@std/assert";
import { encodeBase64, type OpenedCheckpoint } from "@sig/jose/proofs";
import {
  type CONTRADICTIONS,
  findContradiction,
  type Shown,
} from "./compare.ts";
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
    assertEquals(findContradiction(PIN, shown(changes)), undefined);
  });
}

const FOUND: readonly (readonly [Changes, string, string])[] = [
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
  // If several codes apply, the first in the order of precedence is returned.
  [{ events: 4, replaced: "k1" }, "feed_rolled_back", "at sequence 4"],
  [{ events: 4, gone: "k1" }, "feed_rolled_back", "at sequence 4"],
  [{ events: 4, prefix: "bb" }, "feed_rolled_back", "at sequence 4"],
  [{ replaced: "k2", gone: "k1" }, "key_replaced", "as k2 than"],
  [{ replaced: "k1", prefix: "bb" }, "key_replaced", "as k1 than"],
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

/** A checkpoint, signed by a remembered key, of the documents' keys. */
function checkpoint(changes: Partial<OpenedCheckpoint> = {}): OpenedCheckpoint {
  const { size = 3 } = changes;
  const hashes = { root: hash(size), state: hash(10 * size), keys: hash(0) };
  return {
    ...{ size, bytes: 1000 * size, kids: ["k1"], time: null, ...hashes },
    ...{ cosignatures: new Map(), ...changes },
  } as OpenedCheckpoint;
}

/** What each way of reading shows: documents, tail, whole feed. */
const WAYS: readonly (readonly [string, Partial<Shown>])[] = [
  ["documents", { events: undefined, feed: undefined }],
  ["tail", { feed: undefined }],
  ["feed", {}],
];

const other = hash(99);
const CASES: readonly (readonly [
  name: string,
  shown: Partial<Shown>,
  ways: readonly string[],
  code: typeof CONTRADICTIONS[number] | undefined,
])[] = [
  ["the same", { checkpoint: checkpoint() }, [], undefined],
  [
    "a longer checkpoint",
    { checkpoint: checkpoint({ size: 9 }) },
    [],
    undefined,
  ],
  [
    "a shorter checkpoint",
    { checkpoint: checkpoint({ size: 2 }) },
    ["documents", "tail", "feed"],
    "feed_rolled_back",
  ],
  [
    "another root of the checkpoint",
    { checkpoint: checkpoint({ root: other }) },
    ["documents", "tail", "feed"],
    "feed_rewritten",
  ],
  [
    "another state of the checkpoint",
    { checkpoint: checkpoint({ state: other }) },
    ["documents", "tail", "feed"],
    "state_contradicted",
  ],
  [
    "another root of a checkpoint of all that was seen",
    { checkpoint: checkpoint({ size: 5, root: other }) },
    ["documents", "tail", "feed"],
    "feed_rewritten",
  ],
  [
    "another event after the checkpoint",
    {
      checkpoint: checkpoint(),
      hashesAt: (events) => events === 5 ? { root: other } : undefined,
    },
    ["tail", "feed"],
    "feed_rewritten",
  ],
  [
    "another state in the feed",
    {
      checkpoint: undefined,
      hashesAt: (events) => ({ root: hash(events), state: other }),
    },
    ["feed"],
    "state_contradicted",
  ],
];

for (const [name, more, ways, code] of CASES) {
  for (const [way, less] of WAYS) {
    const isFound = ways.includes(way);
    Deno.test(`${name}, by ${way}: ${isFound ? code : "consistent"}`, () => {
      const { hashesAt } = more;
      const all = { ...shown({}), ...more, ...less };
      const isRead = way !== "documents" && ways.includes(way);
      const found = findContradiction({ ...PIN, proof: PROOF }, {
        ...all,
        hashesAt: isRead ? hashesAt : undefined,
      });
      assertEquals(found?.code, isFound ? code : undefined);
    });
  }
}

Deno.test("a key that no remembered key introduces precedes a rewrite, and follows other keys", () => {
  const { new: _, ...known } = PROOF.keys;
  const pin = { ...PIN, proof: { ...PROOF, keys: known } };
  const show = (changes: Changes) =>
    findContradiction(pin, {
      ...shown(changes),
      checkpoint: checkpoint({ root: other }),
    })?.code;
  assertEquals(show({ prefix: "bb" }), "key_not_introduced");
  assertEquals(show({ gone: "k1" }), "key_withdrawn");
  assertEquals(show({ events: 4 }), "feed_rolled_back");
});
