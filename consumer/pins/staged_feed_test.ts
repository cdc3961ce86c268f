import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  Replay,
  type ReplayStart,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import fc from "fast-check";
import { ISSUER, revoke, upsert } from "../../tests/kit/events.ts";
import { SignatureMarks } from "../verify/signature_marks.ts";
import { createMemoryPinStore } from "./memory_pin_store.ts";
import { type PinRow, type PinStore, StateMoved } from "./pin_store.ts";
import { BLOCK_EVENTS, blockKey, relationshipKey } from "./row_keys.ts";
import { StagedFeed } from "./staged_feed.ts";
import {
  readAbout,
  readWarnings,
  readWhole,
  type StoredState,
} from "./stored_state.ts";
import { StoredHistory } from "./stored_history.ts";

const SUBJECTS = ["did:web:a.example", "did:web:b.example", "someoneé", ","];
const IDS = ["r1", "r2", "__proto__", "x".repeat(300), ",", '"],[{"subject":'];

const change = fc.record({
  kind: fc.constantFrom("upsert", "upsert", "revoke", "unknown"),
  id: fc.constantFrom(...IDS),
  subject: fc.constantFrom(...SUBJECTS),
  role: fc.constantFrom("deploy", ',[{"subject":'),
  day: fc.integer({ min: 1, max: 28 }),
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function eventOf(
  { kind, id, subject, role, day }: Change,
  at: number,
): SigEvent | UnknownEvent {
  const issued_at = `2026-01-${String(day).padStart(2, "0")}T00:00:00.5Z`;
  const common = { relationship_id: id, subject, issued_at };
  const sequence = at + 1;
  if (kind === "revoke") {
    return revoke(sequence, { ...common, effective_at: issued_at });
  }
  const event = upsert(sequence, { ...common, roles: [role] });
  return kind === "upsert"
    ? event
    : { ...event, event_type: "relationship.paused" } as UnknownEvent;
}

/** What a feed says, staged in batches of so many events and put. */
async function stage(
  events: readonly (SigEvent | UnknownEvent)[],
  batchEvents: number,
  store: PinStore = createMemoryPinStore(),
): Promise<{ readonly stored: StoredState; readonly end: ReplayStart }> {
  const staged = new StagedFeed(store, ISSUER, { batchEvents });
  const marks = new SignatureMarks();
  const start = await staged.begin(marks);
  const replay = new Replay({ issuer: ISSUER }, start);
  for (const event of events) {
    replay.apply(event);
    marks.add(Uint8Array.of(event.sequence, 2, 3, 4));
    await staged.pause(0, () => false);
  }
  const end = replay.checkpoint();
  const last = { bytes: 0, lastEventId: null, keys: [], replay: end };
  const { state, listed } = await staged.finish(last, []);
  const ref = { issuer: ISSUER, state };
  await store.put({ ...ref, revision: 1, body: "" });
  return {
    end,
    stored: {
      ...{ store, ref, revision: 1, listed },
      lastSequence: events.length,
      hasWarnings: end.warnings.length > 0,
    },
  };
}

/** All rows but the listing, which depends on the state's name. */
async function rowsOf({ store, ref }: StoredState): Promise<PinRow[]> {
  const rows = await Array.fromAsync(store.all(ref, ""));
  return rows.filter(([key]) => !key.startsWith("x"))
    .sort(([a], [b]) => a < b ? -1 : 1);
}

Deno.test("in batches of whatever size, what is staged is what a replay of all comes to", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 12 }),
      async (changes, batchEvents) => {
        const events = changes.map(eventOf);
        const whole = new Replay({ issuer: ISSUER });
        for (const event of events) whole.apply(event);
        const { history, by_relationship_id } = whole.state();
        const { stored, end } = await stage(events, batchEvents);
        assertEquals(end.warnings, whole.warnings);
        const read = await readWhole(stored);
        assertEquals(
          [...read.by_relationship_id],
          [...by_relationship_id],
        );
        assertEquals([...read.history.versions], [...history.versions]);
        for (const subject of SUBJECTS) {
          const about = await readAbout(stored, [subject]);
          for (const each of [read, about]) {
            assertEquals(
              [...each.history.relationshipsOf(subject)],
              [...history.relationshipsOf(subject)],
            );
          }
        }
        for (
          const [i, { warning, subjects, issuedAt }] of (
            await readWarnings(stored, new StoredHistory())
          ).entries()
        ) {
          assertEquals(warning, whole.warnings[i]);
          const sequence = warning.sequence!;
          assertEquals(subjects, history.subjectsWarnedAt(sequence));
          const { seconds, nanoseconds } = history.issuedAt(sequence);
          assertEquals(issuedAt, [seconds, nanoseconds]);
        }
        const atOnce = await stage(events, Infinity);
        assertEquals(await rowsOf(stored), await rowsOf(atOnce.stored));
        assertEquals(stored.listed, atOnce.stored.listed);
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("blocks that are staged in parts say when each event was issued", async () => {
  const count = 2 * BLOCK_EVENTS + 10;
  const events = Array.from(
    { length: count },
    (_, at) =>
      upsert(at + 1, {
        issued_at: new Date(Date.UTC(2026, 0, 1) + 60_000 * (at ^ 3))
          .toISOString(),
      }),
  );
  const replay = new Replay({ issuer: ISSUER });
  for (const event of events) replay.apply(event);
  const { history } = replay.state();
  const { stored } = await stage(events, 700);
  for (const at of [0, 1, 699, 1_023, 1_024, count - 1]) {
    const instant = history.issuedAt(at + 1);
    const read = await readAbout(stored, [], { asOf: { instant } as never });
    assertEquals(read.history.prefixAt(instant), history.prefixAt(instant));
    const one = await readAbout(stored, [], { asOf: at + 1 });
    assertEquals(one.history.issuedAt(at + 1), instant);
  }
  const atOnce = await rowsOf((await stage(events, Infinity)).stored);
  // Compared as texts: they are long.
  assert(JSON.stringify(await rowsOf(stored)) === JSON.stringify(atOnce));
});

Deno.test("a feed of a few events is written without reading", async () => {
  const store = createMemoryPinStore();
  store.staged = () => Promise.reject(new Error("asked"));
  const { stored } = await stage([upsert(1), revoke(2)], 3, store);
  assertEquals((await readWhole(stored)).by_relationship_id.size, 1);
});

Deno.test("where rows that were staged are gone, nothing more is staged", async () => {
  const store = createMemoryPinStore();
  const staged = new StagedFeed(store, ISSUER, { batchEvents: 1 });
  const marks = new SignatureMarks();
  const { history } = await staged.begin(marks);
  const states = new Set<string>();
  const { stage } = store;
  store.stage = (ref, rows) => {
    states.add(ref.state);
    return stage.call(store, ref, rows);
  };
  history.add(upsert(1), true);
  marks.add(Uint8Array.of(1, 2, 3, 4));
  await staged.pause(0, () => false);
  // Another process is faster, and what it wrote is forgotten again.
  const other = { issuer: ISSUER, state: "other", revision: 1, body: "" };
  await store.put(other);
  await store.remove(ISSUER);
  history.add(upsert(2, { relationship_id: "r2" }), true);
  marks.add(Uint8Array.of(1, 2, 3, 4));
  await assertRejects(() => staged.pause(0, () => false), StateMoved);
  await staged.drop();
  const [state] = states;
  assertEquals(states.size, 1);
  const ref = { issuer: ISSUER, state: state! };
  assertEquals(
    await store.staged(ref, [blockKey(1), relationshipKey("r2")]),
    [undefined, undefined],
  );
});

Deno.test("of a faulty feed nothing more is staged", async () => {
  const store = createMemoryPinStore();
  store.stage = () => Promise.reject(new Error("staged"));
  const staged = new StagedFeed(store, ISSUER, { batchEvents: 1 });
  const { history } = await staged.begin(new SignatureMarks());
  history.add(upsert(1), true);
  await staged.pause(0, () => true);
});
