/** The tests that every driver of `RecordStore` must pass. @module */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type StoreRule,
  testStoreRules,
} from "@sig/consumer/pin-store-contract";
import { SigError } from "@sig/core";
import type { RecordKind, RecordStore } from "./record_store.ts";

/** A store to be tested, and a second way in, as another process has one. */
export interface OpenedRecords {
  /** The store; it must keep 200 records of the kind `assertion` at most. */
  readonly store: RecordStore;
  /** The same records through another connection; absent: there is none. */
  readonly other?: RecordStore;
  /** Closes both. */
  readonly close: () => Promise<void>;
}

/** One rule of the contract. */
export type RecordRule = StoreRule<OpenedRecords>;

const NOW_MS = Date.parse("2026-01-31T09:00:00Z");
const LIFE_MS = 60_000;
const KIND: RecordKind = "grant";
/** Records of the kind `assertion` that a tested store keeps. */
const SMALL_LIMIT = 200;

function after(ms: number): Date {
  return new Date(NOW_MS + ms);
}

function some(text: string, lifeMs = LIFE_MS) {
  return { text, expiresAtMs: NOW_MS + lifeMs };
}

function newId(): string {
  return crypto.randomUUID();
}

async function put(store: RecordStore, text = "one"): Promise<string> {
  const id = newId();
  assert(await store.put(KIND, id, some(text), null, after(0)));
  return id;
}

/**
 * Registers the contract's tests for one driver with `Deno.test`, named
 * `<driver> records: <rule>`. `open` must answer an empty store for each.
 */
export function testRecordStoreContract(
  driver: string,
  open: () => Promise<OpenedRecords>,
  ignore = false,
): void {
  testStoreRules(`${driver} records`, RECORD_STORE_RULES, open, ignore);
}

/** The contract's rules, for other test runners than Deno's. */
export const RECORD_STORE_RULES: readonly RecordRule[] = [
  {
    name: "what was put is there, for every connection, in its kind alone",
    hold: async ({ store, other = store }) => {
      const text = 'a:b:{"c":"ä\\u0000\\n"}\n:';
      const id = await put(store, text);
      for (const each of [store, other]) {
        const found = await each.get(KIND, id, after(0));
        assertEquals(found?.text, text);
        assertEquals(found?.expiresAtMs, NOW_MS + LIFE_MS);
      }
      assertEquals(await store.get("session", id, after(0)), undefined);
      assertEquals(await store.take("session", id, after(0)), undefined);
    },
  },
  {
    name: "a new one does not replace an old one",
    hold: async ({ store, other = store }) => {
      const id = await put(store);
      assertEquals(
        await other.put(KIND, id, some("two"), null, after(0)),
        false,
      );
      assertEquals((await store.get(KIND, id, after(0)))?.text, "one");
    },
  },
  {
    name: "of 50 parallel takes exactly one gets it",
    hold: async ({ store, other = store }) => {
      const id = await put(store);
      const taken = await Promise.all(
        Array.from(
          { length: 50 },
          (_, i) => (i % 2 ? store : other).take(KIND, id, after(1)),
        ),
      );
      assertEquals(taken.filter((each) => each?.text === "one").length, 1);
      assertEquals(taken.filter((each) => each === undefined).length, 49);
      assertEquals(await other.get(KIND, id, after(1)), undefined);
      // Its place is free again.
      assert(await store.put(KIND, id, some("two"), null, after(1)));
    },
  },
  {
    name: "of 50 parallel puts over one version exactly one is written",
    hold: async ({ store, other = store }) => {
      const id = await put(store);
      const { version } = (await store.get(KIND, id, after(0)))!;
      const written = await Promise.all(
        Array.from(
          { length: 50 },
          (_, i) =>
            (i % 2 ? store : other)
              .put(KIND, id, some(`n${i}`), version, after(0)),
        ),
      );
      assertEquals(written.filter((each) => each).length, 1);
      const found = await other.get(KIND, id, after(0));
      assertEquals(found?.text, `n${written.indexOf(true)}`);
      assert(found !== undefined && found.version !== version);
    },
  },
  {
    name: "the same text put again is another version",
    hold: async ({ store }) => {
      const id = await put(store);
      const { version } = (await store.get(KIND, id, after(0)))!;
      assert(await store.put(KIND, id, some("one"), version, after(0)));
      assertEquals(
        await store.put(KIND, id, some("two"), version, after(0)),
        false,
      );
    },
  },
  {
    name: "what is gone is not put over",
    hold: async ({ store }) => {
      const id = await put(store);
      const { version } = (await store.get(KIND, id, after(0)))!;
      await store.take(KIND, id, after(0));
      assertEquals(
        await store.put(KIND, id, some("two"), version, after(0)),
        false,
      );
      assertEquals(await store.get(KIND, id, after(0)), undefined);
    },
  },
  {
    name: "it expires to the millisecond, by the clock that is given",
    hold: async ({ store }) => {
      const id = await put(store);
      assert(await store.get(KIND, id, after(LIFE_MS - 1)));
      assertEquals(await store.get(KIND, id, after(LIFE_MS)), undefined);
      assertEquals(await store.take(KIND, id, after(LIFE_MS)), undefined);
      assertEquals((await store.list(KIND, after(LIFE_MS))).records, []);
      const { version } = (await store.get(KIND, id, after(0)))!;
      assertEquals(
        await store.put(KIND, id, some("x", 9e4), version, after(LIFE_MS)),
        false,
      );
      assert(await store.put(KIND, id, some("x", 9e4), null, after(LIFE_MS)));
    },
  },
  {
    name: "a put may lengthen a life, and a sweep by the old one spares it",
    hold: async ({ store }) => {
      const id = await put(store);
      const { version } = (await store.get(KIND, id, after(0)))!;
      const longer = some("one", 3 * LIFE_MS);
      assert(await store.put(KIND, id, longer, version, after(0)));
      await store.put(
        KIND,
        newId(),
        some("x", 9e4),
        null,
        after(LIFE_MS + 5e3),
      );
      assert(await store.get(KIND, id, after(LIFE_MS + 6e3)));
    },
  },
  {
    name: "the pages of a list show every record",
    hold: async ({ store, other = store }) => {
      const ids = new Set<string>();
      for (let i = 0; i < 1_200; i++) ids.add(await put(store, `n${i}`));
      const seen = new Set<string>();
      let from: string | undefined;
      do {
        const page = await other.list(KIND, after(0), from);
        for (const { id, text } of page.records) {
          assert(text.startsWith("n"));
          seen.add(id);
        }
        from = page.next;
      } while (from !== undefined);
      assertEquals(seen, ids);
    },
  },
  {
    name: "a full kind takes no new ones, changes go on, others have room",
    hold: async ({ store }) => {
      const kind = "assertion";
      const first = newId();
      assert(await store.put(kind, first, some("one"), null, after(0)));
      for (let i = 1; i < SMALL_LIMIT; i++) {
        assert(await store.put(kind, newId(), some("x"), null, after(0)));
      }
      const error = await assertRejects(
        () => store.put(kind, newId(), some("x"), null, after(0)),
        SigError,
        "Cannot keep assertion: there are too many",
      );
      assertEquals(error.code, "rate_limited");
      assertEquals(error.context.limit, SMALL_LIMIT);
      const { version } = (await store.get(kind, first, after(0)))!;
      assert(await store.put(kind, first, some("two"), version, after(0)));
      await put(store);
      // What has expired makes room again.
      const late = after(LIFE_MS + 2_000);
      assert(await store.put(kind, newId(), some("x", 2e5), null, late));
    },
  },
];
