import {
  type ErrorCode,
  isSigError,
  parseEventPayload,
  parseFeedLine,
  type PrivateJwk,
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

const VECTORS = new URL("../vectors/", import.meta.url);
const FEED = "/.well-known/sig/events.jsonl";

interface Expected {
  readonly result: "valid" | "invalid";
  readonly now: string;
  readonly options?: object;
  readonly code?: ErrorCode;
  readonly line?: number;
  readonly last_sequence?: number;
  readonly by_relationship_id?: Readonly<Record<string, unknown>>;
}

function readCase(name: string): {
  readonly expected: Expected;
  readonly store: MemoryStore;
} {
  const root = new URL(`feed/${name}/`, VECTORS);
  const store = createMemoryStore();
  const walk = (path: string) => {
    for (const { isDirectory, name } of Deno.readDirSync(new URL(path, root))) {
      if (isDirectory) walk(`${path}${name}/`);
      else {
        const bytes = Deno.readFileSync(new URL(`${path}${name}`, root));
        store.files.set(`/${path.slice(2)}${name}`, bytes);
      }
    }
  };
  walk("./");
  const text = new TextDecoder().decode(store.files.get("/expected.json"));
  store.files.delete("/expected.json");
  return { expected: JSON.parse(text) as Expected, store };
}

const CASES = Array.from(
  Deno.readDirSync(new URL("feed/", VECTORS)),
  ({ name }) => name,
).sort();

/** What a reader says and an issuer, for a reason, does not. */
const OTHERWISE: Readonly<Record<string, ErrorCode | "mended">> = {
  // An unfinished tail is what a crash leaves of the issuer's own write.
  "feed-no-lf": "mended",
  "feed-cut-off": "mended",
  // Options that an issuer does not have.
  "unknown-event-ignored": "unknown_event_type",
  "revoke-without-upsert-rejected": "mended",
};

for (const name of Object.keys(OTHERWISE)) {
  if (!CASES.includes(name)) throw new Error(`there is no case ${name}`);
}

for (const name of CASES) {
  Deno.test(`the issuer judges its feed as a reader does: ${name}`, async () => {
    const { expected, store } = readCase(name);
    const before = new Map(store.files);
    const keys = createMemoryKeyStore();
    const now = () => new Date(expected.now);
    const otherwise = OTHERWISE[name];
    const code = otherwise ?? expected.code;
    try {
      const issuer = await openIssuer({ store, keys, now });
      const state = await issuer.state();
      assert(expected.result === "valid" || otherwise === "mended", code);
      if (otherwise !== undefined) return;
      assertEquals(state.last_sequence, expected.last_sequence);
      assertEquals(
        new Map(state.by_relationship_id),
        new Map(Object.entries(expected.by_relationship_id ?? {})) as Map<
          string,
          never
        >,
      );
    } catch (error) {
      if (!isSigError(error)) throw error;
      assertEquals(error.code, code, error.message);
      if (otherwise === undefined && expected.line !== undefined) {
        assertEquals(error.context.line, expected.line);
      }
    }
    assertEquals(store.files, before);
  });
}

const KEYS = (JSON.parse(
  Deno.readTextFileSync(new URL("keys.json", VECTORS)),
) as { keys: { jwk: PrivateJwk }[] }).keys.map(({ jwk }) => jwk);

/** Feeds without anything that only others spell that way. */
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
  Deno.test(`the issuer writes the bytes of the vector: ${name}`, async () => {
    const { expected, store } = readCase(name);
    const feed = new TextDecoder().decode(store.files.get(FEED));
    store.files.set(FEED, new Uint8Array());
    for (const line of feed.split("\n").slice(0, -1)) {
      const { header, payload } = parseFeedLine(line);
      const issuer = await openIssuer({
        store,
        keys: await keyOf(header.kid),
        now: () => new Date(expected.now),
        allowWarnings: true,
      });
      await issuer.append(draftOf(parseEventPayload(payload) as SigEvent));
    }
    assertEquals(new TextDecoder().decode(store.files.get(FEED)), feed);
  });
}

async function keyOf(kid: string): Promise<SigningKey> {
  return await importSigningKey(KEYS.find((jwk) => jwk.kid === kid));
}

/** What has to be given for the event to come out again. */
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
