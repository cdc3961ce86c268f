import { assertEquals, assertRejects } from "@std/assert";
import { SigError } from "@sig/core";
import fc from "fast-check";
import { createMemoryPinStore } from "./memory_pin_store.ts";
import type { PinRow } from "./pin_store.ts";
import {
  growListing,
  type ListedState,
  readRows,
  RowDirectory,
} from "./row_directory.ts";
import { relationshipKey, subjectKey } from "./row_keys.ts";

const REF = { issuer: "did:web:acme.example", state: crypto.randomUUID() };

/** A state of so many people, each with a relationship. */
function rowsOf(from: number, to: number): PinRow[] {
  const rows: PinRow[] = [];
  for (let n = from; n < to; n++) {
    rows.push([subjectKey(`did:web:p${n}.example`), `subject ${n}`]);
    rows.push([relationshipKey(`r${n}`), `relationship ${n}`]);
  }
  return rows;
}

/** A store with that many people, and what its listing holds. */
async function stateOf(people: number): Promise<ListedState> {
  const store = createMemoryPinStore();
  const directory = new RowDirectory(REF.state);
  const rows = rowsOf(0, people);
  for (const [key] of rows) directory.add(key);
  await store.put(
    { ...REF, revision: 1, body: "" },
    [...rows, ...directory.rows()],
  );
  return { store, ref: REF, listed: directory.listed };
}

async function add(
  state: ListedState,
  revision: number,
  rows: readonly PinRow[],
): Promise<ListedState> {
  const grown = await growListing(state, rows);
  await state.store.put(
    { ...REF, revision, body: "" },
    [...rows, ...grown.rows],
  );
  return { ...state, listed: grown.listed };
}

async function listingOf({ store }: ListedState): Promise<string[][]> {
  const buckets: string[][] = [];
  for await (const [key, text] of store.all(REF, "x")) {
    buckets.push([key, ...(text.match(/.{14}/g) ?? []).sort()]);
  }
  return buckets.sort();
}

Deno.test("a listing that grew is that of a state which was written at once", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 8 }),
      async (steps) => {
        let people = steps.shift() ?? 0;
        let state = await stateOf(people);
        let revision = 1;
        for (const step of steps) {
          // Some that are there already come again.
          const rows = rowsOf(Math.max(0, people - 3), people + step);
          people += step;
          state = await add(state, ++revision, rows);
        }
        const whole = await stateOf(people);
        assertEquals(state.listed, whole.listed);
        assertEquals(await listingOf(state), await listingOf(whole));
      },
    ),
    { numRuns: 30 },
  ));

Deno.test("of a large state a few more keys change a few rows", async () => {
  const state = await stateOf(5_000);
  const { rows, listed } = await growListing(state, rowsOf(5_000, 5_010));
  assertEquals(listed, { keys: 10_020, relationships: 5_010 });
  // One for each key, and two for each that is split.
  assertEquals(rows.length <= 22, true);
  const length = rows.reduce((sum, [, text]) => sum + text.length, 0);
  assertEquals(length < 30_000, true);
});

Deno.test("a row that never was is undefined; one that is lost, or its list, is an error", async () => {
  const whole = await stateOf(300);
  const stranger = subjectKey("did:web:nobody.example");
  const known = subjectKey("did:web:p7.example");
  assertEquals(await readRows(whole, [stranger, known]), [
    undefined,
    "subject 7",
  ]);
  const losses: readonly (readonly [(key: string) => boolean, string])[] = [
    [(key) => key === known, "the state of did:web:acme.example is damaged"],
    [
      (key) => key.startsWith("x"),
      "the list of the rows of did:web:acme.example is damaged",
    ],
  ];
  for (const [isLost, message] of losses) {
    const { store } = whole;
    const torn: ListedState = {
      ...whole,
      store: {
        ...store,
        rows: async (ref, keys) =>
          (await store.rows(ref, keys)).map((text, i) =>
            isLost(keys[i]!) ? undefined : text
          ),
      },
    };
    const error = await assertRejects(
      () => readRows(torn, [stranger, known, relationshipKey("no")]),
      SigError,
      message,
    );
    assertEquals([error.code, error.context.place], [
      "store_unavailable",
      store.place,
    ]);
  }
});

Deno.test("a row that was lost is an error also for who knows the listing of before", async () => {
  const before = await stateOf(40);
  await add(before, 2, rowsOf(40, 4_000));
  const stranger = subjectKey("did:web:nobody.example");
  for (let n = 0; n < 40; n++) {
    const lost = subjectKey(`did:web:p${n}.example`);
    const { store } = before;
    const torn: ListedState = {
      ...before,
      store: {
        ...store,
        rows: async (ref, keys) =>
          (await store.rows(ref, keys)).map((text, i) =>
            keys[i] === lost ? undefined : text
          ),
      },
    };
    assertEquals(await readRows(torn, [stranger]), [undefined]);
    const error = await assertRejects(
      () => readRows(torn, [lost]),
      SigError,
      "the state of did:web:acme.example is damaged",
    );
    assertEquals(error.code, "store_unavailable");
  }
});
