/**
 * The contract tests that every driver of {@linkcode RecordStore} must pass,
 * including your own. For tests only.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "@sig/consumer/store";
 * import { RECORD_STORE_RULES } from "@sig/consumer/store-contract";
 *
 * for (const { verify } of RECORD_STORE_RULES) {
 *   const store = createMemoryStore(); // yours
 *   await verify({ store, close: () => store.close() });
 * }
 * ```
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { SigError } from "@sig/core";
import {
  listRecords,
  MAX_RECORD_BYTES,
  type RecordKind,
  type RecordStore,
} from "./record_store.ts";

/**
 * A store to be tested, and a second connection like that of another process.
 */
export interface OpenedStore {
  /** An empty store. */
  readonly store: RecordStore;
  /** The same records through another connection; absent if there is none. */
  readonly other?: RecordStore;
  /** Closes both. */
  readonly close: () => Promise<void>;
}

/** One rule of the contract. */
export interface RecordStoreRule {
  /** The rule as a test name. */
  readonly name: string;
  /** Rejects with an `AssertionError` if the store breaks the rule. */
  readonly verify: (opened: OpenedStore) => Promise<void>;
}

/**
 * Registers the contract's tests for one driver with `Deno.test`, named
 * `<driver>: <rule>`. `open` must return an empty store for each.
 */
export function testRecordStoreContract(
  driver: string,
  open: () => Promise<OpenedStore>,
  ignore = false,
): void {
  for (const { name, verify } of RECORD_STORE_RULES) {
    Deno.test({
      name: `${driver}: ${name}`,
      ignore,
      async fn() {
        const opened = await open();
        try {
          await verify(opened);
        } finally {
          await opened.close();
        }
      },
    });
  }
}

const NOW_MS = Date.parse("2026-01-31T09:00:00Z");
const LIFE_MS = 60_000;
const KIND: RecordKind = { name: "test_record" };
const OTHER_KIND: RecordKind = { name: "test_other" };
const SMALL: RecordKind = { name: "test_small", maxRecords: 200 };

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

/** The rules of the contract, for test runners other than Deno's. */
export const RECORD_STORE_RULES: readonly RecordStoreRule[] = [
  {
    name: "a record can be read by every connection, in its kind only",
    verify: async ({ store, other = store }) => {
      const text = 'a:b:{"c":"ä\\u0000\\n\u{1f600}"}\n:';
      const id = await put(store, text);
      for (const each of [store, other]) {
        const found = await each.get(KIND, id, after(0));
        assertEquals(found?.text, text);
        assertEquals(found?.expiresAtMs, NOW_MS + LIFE_MS);
      }
      assertEquals(await store.get(OTHER_KIND, id, after(0)), undefined);
      assertEquals(await store.take(OTHER_KIND, id, after(0)), undefined);
    },
  },
  {
    name: "a new record does not overwrite an old one",
    verify: async ({ store, other = store }) => {
      const id = await put(store);
      assertEquals(
        await other.put(KIND, id, some("two"), null, after(0)),
        false,
      );
      assertEquals((await store.get(KIND, id, after(0)))?.text, "one");
    },
  },
  {
    name: "of 50 parallel takes exactly one gets the record",
    verify: async ({ store, other = store }) => {
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
      // The id is free again.
      assert(await store.put(KIND, id, some("two"), null, after(1)));
    },
  },
  {
    name: "of 50 parallel puts over one version exactly one is written",
    verify: async ({ store, other = store }) => {
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
    name: "of 50 parallel puts of a new record exactly one is written",
    verify: async ({ store, other = store }) => {
      const id = newId();
      const written = await Promise.all(
        Array.from(
          { length: 50 },
          (_, i) =>
            (i % 2 ? store : other)
              .put(KIND, id, some(`n${i}`), null, after(0)),
        ),
      );
      assertEquals(written.filter((each) => each).length, 1);
      const found = await other.get(KIND, id, after(0));
      assertEquals(found?.text, `n${written.indexOf(true)}`);
    },
  },
  {
    name: "putting the same text again changes the version",
    verify: async ({ store }) => {
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
    name:
      "a put over a taken record fails, also after a new record was created",
    verify: async ({ store }) => {
      const id = await put(store);
      const { version } = (await store.get(KIND, id, after(0)))!;
      await store.take(KIND, id, after(0));
      const late = () => store.put(KIND, id, some("late"), version, after(0));
      assertEquals(await late(), false);
      assertEquals(await store.get(KIND, id, after(0)), undefined);
      assert(await store.put(KIND, id, some("next"), null, after(0)));
      assertEquals(await late(), false);
      assertEquals((await store.get(KIND, id, after(0)))?.text, "next");
    },
  },
  {
    name: "a record expires to the millisecond, by the given clock",
    verify: async ({ store }) => {
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
    name: "a put can extend the expiry, and cleaning up keeps the record",
    verify: async ({ store }) => {
      const id = await put(store);
      const { version } = (await store.get(KIND, id, after(0)))!;
      const longer = some("one", 3 * LIFE_MS);
      assert(await store.put(KIND, id, longer, version, after(0)));
      const late = after(LIFE_MS + 5e3);
      await store.put(KIND, newId(), some("x", 9e4), null, late);
      assert(await store.get(KIND, id, after(LIFE_MS + 6e3)));
    },
  },
  {
    name: "a record without expiry is kept while others expire",
    verify: async ({ store, other = store }) => {
      const id = newId();
      const forever = { text: "pin", expiresAtMs: null };
      assert(await store.put(KIND, id, forever, null, after(0)));
      await put(store);
      const years = after(50 * 365 * 86_400_000);
      await store.put(KIND, newId(), some("x", 1e13), null, years);
      const found = await other.get(KIND, id, years);
      assertEquals([found?.text, found?.expiresAtMs], ["pin", null]);
      const listed = await other.list(KIND, years);
      assert(listed.records.some((each) => each.id === id));
      assert(await other.put(KIND, id, forever, found!.version, years));
      assertEquals((await store.take(KIND, id, years))?.text, "pin");
    },
  },
  {
    name: "the longest text is kept, and a longer one is store_unavailable",
    verify: async ({ store, other = store }) => {
      for (const text of ["x", "ä", "\u{1f600}"]) {
        const bytes = new TextEncoder().encode(text).length;
        const long = text.repeat(MAX_RECORD_BYTES / bytes);
        const id = await put(store, long);
        assertEquals((await other.get(KIND, id, after(0)))?.text, long);
        const error = await assertRejects(
          () => put(store, long + text),
          SigError,
          `a record of ${MAX_RECORD_BYTES + bytes} bytes exceeds 60000`,
        );
        assertEquals(error.code, "store_unavailable");
      }
    },
  },
  {
    name: "the pages of a list contain every record",
    verify: async ({ store, other = store }) => {
      const ids = new Set<string>();
      for (let i = 0; i < 1_200; i++) ids.add(await put(store, `n${i}`));
      const seen = new Set<string>();
      for await (const { id, text } of listRecords(other, KIND, after(0))) {
        assert(text.startsWith("n"));
        seen.add(id);
      }
      assertEquals(seen, ids);
    },
  },
  {
    name: "a full kind refuses new records but not changes or other kinds",
    verify: async ({ store }) => {
      const first = newId();
      assert(await store.put(SMALL, first, some("one"), null, after(0)));
      for (let i = 1; i < SMALL.maxRecords!; i++) {
        assert(await store.put(SMALL, newId(), some("x"), null, after(0)));
      }
      for (let i = 0; i < 2; i++) {
        const error = await assertRejects(
          () => store.put(SMALL, newId(), some("x"), null, after(0)),
          SigError,
          "Cannot store test_small: the limit is reached",
        );
        assertEquals(error.code, "rate_limited");
        assertEquals(error.context.limit, SMALL.maxRecords);
        assertEquals(error.context.retry_after_seconds, 30);
      }
      const { version } = (await store.get(SMALL, first, after(0)))!;
      assert(await store.put(SMALL, first, some("two"), version, after(0)));
      await put(store);
      // Expired records free space.
      const late = after(LIFE_MS + 2_000);
      assert(await store.put(SMALL, newId(), some("x", 2e5), null, late));
    },
  },
];
