import {
  type ErrorCode,
  isSigError,
  parseEventPayload,
  parseFeedLine,
  type SigEvent,
} from "@sig/core";
import { importSigningKey, type SigningKey } from "@sig/jose";
import {
  createMemoryKeyStore,
  createMemoryStore,
  type EventDraft,
  type MemoryStore,
  openIssuer,
} from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";
import {
  DOCUMENT_PATHS,
  type FeedVector,
  readFeedVector,
  readFeedVectors,
  readTestKeys,
} from "../tests/kit/vectors.ts";

const FEED = `/${DOCUMENT_PATHS.feed}`;

function storeOf({ documents }: FeedVector): MemoryStore {
  const store = createMemoryStore();
  for (const [path, bytes] of documents) store.files.set(`/${path}`, bytes);
  return store;
}

const VECTORS = readFeedVectors();

/** Intended differences between a reader and an issuer. */
const DIFFERENCES: Readonly<Record<string, ErrorCode | "repaired">> = {
  // An unfinished tail is what a crash leaves of the issuer's own write.
  "feed-no-lf": "repaired",
  "feed-cut-off": "repaired",
  // Options that an issuer does not have.
  "unknown-event-ignored": "unknown_event_type",
  "revoke-without-upsert-rejected": "repaired",
  // An issuer does not compare its own feed with the roots of its statements.
  "recovery-fewer-events": "repaired",
  "recovery-other-events": "invalid_envelope",
};

for (const name of Object.keys(DIFFERENCES)) {
  if (!VECTORS.some((each) => each.name === name)) {
    throw new Error(`there is no case ${name}`);
  }
}

for (const vector of VECTORS) {
  const { expected, name } = vector;
  Deno.test(`an issuer verifies its feed as a reader does: ${name}`, async () => {
    const store = storeOf(vector);
    const before = new Map(store.files);
    const keys = createMemoryKeyStore();
    const now = () => new Date(expected.now);
    const difference = DIFFERENCES[name];
    const code = difference ??
      (expected.result === "invalid" ? expected.code : undefined);
    try {
      const issuer = await openIssuer({ store, keys, now });
      const state = await issuer.state();
      assert(expected.result === "valid" || difference === "repaired", code);
      if (difference !== undefined || expected.result === "invalid") return;
      assertEquals(state.last_sequence, expected.last_sequence);
      assertEquals(
        new Map(state.by_relationship_id),
        new Map(Object.entries(expected.by_relationship_id)),
      );
    } catch (error) {
      if (!isSigError(error)) throw error;
      assertEquals(error.code, code, error.message);
      const { line } = { line: undefined, ...expected };
      if (difference === undefined && line !== undefined) {
        assertEquals(error.context.line, line);
      }
    }
    assertEquals(store.files, before);
  });
}

/** Feeds whose bytes do not depend on the implementation's spelling. */
const OWN_SPELLING = [
  "effective-at-future",
  "fields-at-limit",
  "fields-over-limit",
  "history",
  "identifiers-odd",
  "issued-at-back-a-day",
  "issued-at-back-more",
  "issued-at-now-and-skew",
  "key-rotation",
  "private-event",
  "reactivate",
  "relationships-are-separate",
  "revoke",
  "revoke-every-reason",
  "revoked-again",
  "subject-any-did",
  "subject-changed-by-revoke",
  "subject-changed-by-upsert",
  "subject-not-did",
  "texts-with-controls",
  "time-first-and-last",
  "time-nanoseconds",
  "upsert",
  "upsert-all-members",
  "upsert-every-type",
  "upsert-replaces",
];

for (const name of OWN_SPELLING) {
  Deno.test(`writes the bytes of the vector: ${name}`, async () => {
    const vector = readFeedVector(name);
    const store = storeOf(vector);
    const feed = new TextDecoder().decode(store.files.get(FEED));
    store.files.set(FEED, new Uint8Array());
    for (const line of feed.split("\n").slice(0, -1)) {
      const { header, payload } = parseFeedLine(line);
      const issuer = await openIssuer({
        store,
        keys: await keyOf(header.kid),
        now: () => new Date(vector.expected.now),
        allowWarnings: true,
      });
      await issuer.append(draftOf(parseEventPayload(payload) as SigEvent));
    }
    assertEquals(new TextDecoder().decode(store.files.get(FEED)), feed);
  });
}

async function keyOf(kid: string): Promise<SigningKey> {
  return await importSigningKey(readTestKeys().find((jwk) => jwk.kid === kid));
}

/** The members that a draft must contain to reproduce the event. */
function draftOf(event: SigEvent): EventDraft {
  const made = ["spec_version", "issuer", "sequence", "status"];
  const entries = Object.entries(event).filter(([name]) =>
    !made.includes(name) && name !== "revokes_relationship_id"
  );
  const draft = Object.fromEntries(entries) as unknown as EventDraft;
  return draft.event_type === "relationship.revoke"
    ? { ...draft, amend: true }
    : draft;
}
