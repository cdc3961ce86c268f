/**
 * An attacker who can change an issuer's files but has no key can cause errors
 * or hide data, but never another state or a crash.
 */

import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { verifyIssuer } from "@sig/consumer";
import { type FeedState, isSigError } from "@sig/core";
import { createMemoryReader } from "../consumer/testdata/memory_reader.ts";
import {
  feedOf,
  importTestKeys,
  lineOf,
  makeDocuments,
  NOW,
  PATHS,
  upsert,
} from "./kit/test_issuer.ts";
import { isCi } from "./kit/process.ts";

// promise: No change of an issuer's files by an attacker without a key gives
//   another state.

const RUNS = isCi ? 2_000 : 1_000;
/** `SIG_SEED` repeats a run. */
const SEED = Number(Deno.env.get("SIG_SEED") ?? randomSeed());

function randomSeed(): number {
  return crypto.getRandomValues(new Int32Array(1))[0]!;
}

type Files = ReadonlyMap<string, Uint8Array>;

/**
 * Creates eight events signed with two keys: changes, a revoke, a
 * re-activation, odd identifiers.
 */
async function makeFeed() {
  const [key1, key2] = await importTestKeys();
  const { roles: _, ...revoke } = upsert(4, {
    event_type: "relationship.revoke",
    relationship_id: "rel-1",
    revokes_relationship_id: "rel-1",
    reason_code: "employment_ended",
    effective_at: "2026-01-01T00:00:00Z",
  });
  const events = [
    upsert(1),
    upsert(2, { subject: "did:web:bob.example", roles: ["read", "deploy"] }),
    upsert(3, { relationship_id: "__proto__", valid_until: null }),
    revoke,
    upsert(5, { relationship_id: "rel-2", roles: [] }),
    upsert(6, { relationship_id: "rel-1", relationship_type: "advisor" }),
    upsert(7, { valid_from: "2026-01-01T00:00:00.000000001Z" }),
    upsert(8, { display: { title: "Ingénieure" }, metadata: { n: [1, {}] } }),
  ];
  const lines: string[] = [];
  for (const [i, event] of events.entries()) {
    lines.push(await lineOf(event, i < 5 ? key1 : key2));
  }
  return { lines, keys: [key1, key2] };
}

async function verify(files: Files): Promise<FeedState> {
  const location = {
    reader: createMemoryReader(files),
    metadataRef: PATHS.metadata,
  };
  return (await verifyIssuer(location, { now: NOW })).state;
}

/** Returns a text that is equal for equal states only. */
function fingerprint(state: FeedState): string {
  const { issuer, last_sequence, by_relationship_id } = state;
  return JSON.stringify([issuer, last_sequence, [...by_relationship_id]]);
}

/**
 * Mutations of bytes at a position; `n` is a random number, `byte` often a byte
 * of JSON.
 */
const MUTATIONS = {
  flip: (bytes, at, n) => bytes.with(at, bytes[at]! ^ 1 << n % 8),
  replace: (bytes, at, _, byte) => bytes.with(at, byte),
  drop: (bytes, at) => Uint8Array.from(Array.from(bytes).toSpliced(at, 1)),
  insert: (bytes, at, _, byte) =>
    Uint8Array.from(Array.from(bytes).toSpliced(at, 0, byte)),
  swap: (bytes, at, n) =>
    bytes.with(at, bytes[n % bytes.length]!)
      .with(n % bytes.length, bytes[at]!),
  cut: (bytes, at) => bytes.slice(0, at),
} satisfies Readonly<
  Record<
    string,
    (bytes: Uint8Array, at: number, n: number, byte: number) => Uint8Array
  >
>;

const number = fc.nat({ max: 100_000 });
// Half of the bytes have a meaning in JSON or base64url.
const byte = fc.oneof(
  fc.nat({ max: 255 }),
  fc.constantFrom(...new TextEncoder().encode('{}[]":,\\ \n\r\t0-_=Aaz')),
);
const mutations = fc.tuple(
  fc.constantFrom(...Object.values(MUTATIONS)),
  number,
  number,
  byte,
);

/** Returns the result of one mutation. */
async function outcomeOf(
  files: Files,
  allowed: ReadonlySet<string>,
): Promise<"refused" | "accepted"> {
  let state: FeedState;
  try {
    state = await verify(files);
  } catch (error) {
    assert(isSigError(error), `not a SigError: ${error}`);
    assert(error.code !== "internal", error.message);
    return "refused";
  }
  assert(
    allowed.has(fingerprint(state)),
    `another state: ${fingerprint(state)}`,
  );
  return "accepted";
}

Deno.test(`${RUNS} mutations never give another state (SIG_SEED=${SEED})`, async () => {
  const { lines, keys } = await makeFeed();
  const files: ReadonlyMap<string, Uint8Array> = new Map(
    Array.from(makeDocuments({ keys, lines }), ([path, document]) => [
      path,
      typeof document === "string"
        ? new TextEncoder().encode(document)
        : document,
    ]),
  );
  const prefixes = await Promise.all(
    Array.from(
      { length: lines.length + 1 },
      (_, n) =>
        verify(new Map(files).set(PATHS.feed, feedOf(lines.slice(0, n)))),
    ),
  );
  assertEquals(
    prefixes.map(({ last_sequence }) => last_sequence),
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
  );
  const allowed = new Set(prefixes.map(fingerprint));
  assertEquals(allowed.size, 9);

  const outcomes = { refused: 0, accepted: 0 };
  const path = fc.oneof(
    { weight: 5, arbitrary: fc.constant(PATHS.feed) },
    { weight: 1, arbitrary: fc.constant(PATHS.metadata) },
    { weight: 2, arbitrary: fc.constant(PATHS.jwks) },
    { weight: 2, arbitrary: fc.constant(PATHS.did) },
  );
  await fc.assert(
    fc.asyncProperty(path, mutations, async (path, [mutate, at, n, byte]) => {
      const before = files.get(path)!;
      const bytes = mutate(before, at % before.length, n, byte);
      const outcome = await outcomeOf(new Map(files).set(path, bytes), allowed);
      outcomes[outcome]++;
    }),
    { numRuns: RUNS, seed: SEED },
  );
  // Changes of white space, unknown members and similar have no effect; most
  // others are rejected.
  assert(outcomes.refused > RUNS / 2, JSON.stringify(outcomes));
  assert(outcomes.accepted > RUNS / 100, JSON.stringify(outcomes));
});
