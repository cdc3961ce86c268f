/**
 * The tests that every driver of {@linkcode PinStore} must pass, yours
 * included. For tests only: nothing that answers imports it. Long because it is
 * one list.
 *
 * @example
 * ```ts
 * import { createMemoryPinStore } from "@sig/consumer/pins";
 * import { PIN_STORE_RULES } from "@sig/consumer/pin-store-contract";
 *
 * for (const { hold } of PIN_STORE_RULES) {
 *   const store = createMemoryPinStore(); // yours
 *   await hold({ store, close: () => store.close() });
 * }
 * ```
 *
 * @module
 */

import { isSigError } from "@sig/core";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type PinEntry,
  type PinRow,
  type PinStore,
  StateMoved,
  type StateRef,
} from "./pin_store.ts";
import { type StoreRule, testStoreRules } from "./store_rules.ts";

export {
  type Closable,
  type StoreRule,
  testStoreRules,
} from "./store_rules.ts";

/** A store to be tested, and a second way in, as another process has one. */
export interface OpenedPinStore {
  /** The store. */
  readonly store: PinStore;
  /** The same pins through another connection; absent: there is none. */
  readonly other?: PinStore;
  /** Closes both. */
  readonly close: () => Promise<void>;
}

/** One rule of the contract. */
export type PinStoreRule = StoreRule<OpenedPinStore>;

/** Registers the contract's tests for one driver with `Deno.test`. */
export function testPinStoreContract(
  driver: string,
  open: () => Promise<OpenedPinStore>,
  ignore = false,
): void {
  testStoreRules(driver, PIN_STORE_RULES, open, ignore);
}

/** An issuer that no other rule asks for, with a first entry. */
function entryOf(more: Partial<PinEntry> = {}): PinEntry {
  const id = crypto.randomUUID();
  return {
    issuer: `did:web:${id}.example`,
    revision: 1,
    state: "first",
    body: '{"text":"Ünïcode \\u0000 🔏"}',
    ...more,
  };
}

async function allOf(
  store: PinStore,
  ref: StateRef,
  prefix: string,
): Promise<readonly PinRow[]> {
  const rows: PinRow[] = [];
  for await (const row of store.all(ref, prefix)) rows.push(row);
  return rows.sort(([a], [b]) => a < b ? -1 : 1);
}

/** The rules of {@linkcode PinStore}. */
export const PIN_STORE_RULES: readonly PinStoreRule[] = [
  {
    name: "what was put is there, for others too, and nothing else is",
    async hold({ store, other = store }) {
      const entry = entryOf();
      assertEquals(await store.get(entry.issuer), undefined);
      assert(await store.put(entry, [["r=1", "one"], ["s", ""]]));
      for (const each of [store, other]) {
        assertEquals(await each.get(entry.issuer), entry);
        assertEquals(
          await each.rows(entry, ["s", "r=2", "r=1"]),
          ["", undefined, "one"],
        );
        assertEquals(await each.rows(entry, []), []);
        const listed = await each.list();
        assert(listed.some(({ issuer }) => issuer === entry.issuer));
      }
    },
  },
  {
    name: "issuers are listed by their DIDs, and apart from each other",
    async hold({ store }) {
      const [a, b] = [entryOf(), entryOf({ state: "second" })];
      await store.put(a, [["r", "a"]]);
      await store.put(b, [["r", "b"]]);
      assertEquals(await store.rows(a, ["r"]), ["a"]);
      assertEquals(await store.rows(b, ["r"]), ["b"]);
      const dids = (await store.list()).map(({ issuer }) => issuer);
      assertEquals(dids, [...dids].sort());
    },
  },
  {
    name: "an entry is written in the place of the one before it only",
    async hold({ store, other = store }) {
      const first = entryOf();
      const second = { ...first, revision: 2, body: "2" };
      assertEquals(await store.put(second), false);
      assertEquals(await store.put(first, [["r", "1"]]), true);
      assertEquals(await other.put(first, [["r", "x"]]), false);
      assertEquals(await other.put(second, [["r", "2"]]), true);
      assertEquals(await store.put(second, [["r", "x"]]), false);
      assertEquals(await store.put({ ...first, revision: 4 }), false);
      assertEquals(await store.get(first.issuer), second);
      assertEquals(await store.rows(first, ["r"]), ["2"]);
    },
  },
  {
    name: "an issuer that was forgotten and seen anew is another one",
    async hold({ store, other = store }) {
      const first = entryOf();
      await store.put(first, [["r", "1"], ["s", "1"]]);
      await other.remove(first.issuer);
      const anew = { ...first, state: "anew" };
      assert(await other.put(anew, [["r", "2"], ["s", "2"]]));
      // The revision is the next one again, but not of what was read.
      const late = { ...first, revision: 2 };
      assertEquals(await store.put(late, [["r", "3"]], first.state), false);
      assertEquals(await store.get(first.issuer), anew);
      assertEquals(await store.rows(anew, ["r", "s"]), ["2", "2"]);
      const moved = { ...anew, revision: 2, state: "moved" };
      assertEquals(await store.put(moved, [["r", "4"]], anew.state), true);
    },
  },
  {
    name: "of many at once exactly one is written, with its rows",
    async hold({ store, other = store }) {
      const first = entryOf();
      await store.put(first, [["r", "0"]]);
      const tries = Array.from({ length: 16 }, (_, i) => {
        const entry = { ...first, revision: 2, body: `${i}` };
        return (i % 2 === 0 ? store : other).put(entry, [["r", `${i}`]]);
      });
      const won = (await Promise.all(tries)).flatMap((each, i) =>
        each ? [`${i}`] : []
      );
      assertEquals(won.length, 1);
      assertEquals((await store.get(first.issuer))?.body, won[0]);
      assertEquals(await store.rows(first, ["r"]), won);
    },
  },
  {
    name: "rows that were staged are seen with their entry, not before",
    async hold({ store, other = store }) {
      const first = entryOf();
      const second = { ...first, revision: 2, state: "second" };
      await store.put(first, [["r", "1"], ["old", "1"]]);
      await other.stage(second, [["r", "2"]]);
      await other.stage(second, [["s", "2"]]);
      assertEquals(await store.rows(first, ["r", "s"]), ["1", undefined]);
      await assertRejects(() => store.rows(second, ["r"]), StateMoved);
      assert(await other.put(second, [["t", "2"]]));
      assertEquals(
        await store.rows(second, ["r", "s", "t", "old"]),
        ["2", "2", "2", undefined],
      );
    },
  },
  {
    name: "who stages rows can go on with them, and take them back",
    async hold({ store, other = store }) {
      const first = entryOf();
      const second = { ...first, revision: 2, state: "second" };
      await store.put(first, [["r", "1"]]);
      assertEquals(await store.staged(second, ["r", "s"]), [
        undefined,
        undefined,
      ]);
      await store.stage(second, [["r", "2"], ["s", ""]]);
      await store.stage(second, [["r", "3"]]);
      assertEquals(
        await other.staged(second, ["s", "r=2", "r"]),
        ["", undefined, "3"],
      );
      assertEquals(await other.staged(second, []), []);
      await store.unstage(second);
      assertEquals(await other.staged(second, ["r"]), [undefined]);
      await store.unstage(second);
      // What an entry names is not touched.
      await store.unstage(first);
      assertEquals(await other.rows(first, ["r"]), ["1"]);
      assert(await other.put(second, []));
      assertEquals(await store.rows(second, ["r", "s"]), [
        undefined,
        undefined,
      ]);
    },
  },
  {
    name: "many rows are taken back as well as few",
    async hold({ store }) {
      const ref = entryOf();
      const keys = Array.from({ length: 12_000 }, (_, i) => `r=${i}`);
      for (let at = 0; at < keys.length; at += 2_000) {
        const some = keys.slice(at, at + 2_000);
        await store.stage(ref, some.map((key) => [key, key]));
      }
      assertEquals(await store.staged(ref, keys), keys);
      await store.unstage(ref);
      const gone = await store.staged(ref, keys);
      assert(gone.every((each) => each === undefined));
      assert(await store.put(ref, []));
      assertEquals(await allOf(store, ref, "r"), []);
    },
  },
  {
    name: "what is staged goes when somebody else puts an entry",
    async hold({ store, other = store }) {
      const first = entryOf();
      const slow = { ...first, state: "slow" };
      await store.stage(slow, [["r", "1"]]);
      assert(await other.put(first, []));
      assertEquals(await store.staged(slow, ["r"]), [undefined]);
      assertEquals(await store.put(slow, []), false);
      await store.unstage(slow);
      assertEquals(await other.get(first.issuer), first);
    },
  },
  {
    name: "rows of a state that has gone are never taken for missing ones",
    async hold({ store, other = store }) {
      const first = entryOf();
      await store.put(first, [["r", "1"]]);
      await other.put({ ...first, revision: 2, state: "second" }, []);
      await assertRejects(() => store.rows(first, ["r"]), StateMoved);
      await assertRejects(() => allOf(store, first, "r"), StateMoved);
      const nobody = entryOf();
      await assertRejects(() => store.rows(nobody, ["r"]), StateMoved);
    },
  },
  {
    name: "what a first verification left behind goes with the next entry",
    async hold({ store, other = store }) {
      const entry = entryOf();
      const dead = { ...entry, state: "dead" };
      await store.stage(dead, [["r", "dead"]]);
      await store.put(entry, [["r", "1"]]);
      if (!await other.put({ ...dead, revision: 2 }, [])) return;
      assertEquals(await store.rows(dead, ["r"]), [undefined]);
    },
  },
  {
    name: "a state that was forgotten while it was staged is never half there",
    async hold({ store, other = store }) {
      const forget: readonly ((entry: PinEntry) => Promise<unknown>)[] = [
        ({ issuer }) => other.remove(issuer),
        async (entry) => {
          await other.put({ ...entry, state: "other" }, []);
          await other.remove(entry.issuer);
        },
      ];
      for (const forgetNow of forget) {
        for (const goesOn of [true, false]) {
          const entry = entryOf();
          await store.stage(entry, [["r", "1"]]);
          await forgetNow(entry);
          try {
            if (goesOn) await store.stage(entry, [["s", "2"]]);
            if (!await store.put(entry, [["t", "3"]])) continue;
          } catch (error) {
            const isTold = isSigError(error, "store_unavailable");
            if (error instanceof StateMoved || isTold) continue;
            throw error;
          }
          assertEquals(await store.rows(entry, ["r"]), ["1"]);
        }
      }
    },
  },
  {
    name: "an entry that came too late can be put again, with what was staged",
    async hold({ store, other = store }) {
      const first = entryOf();
      const late = { ...first, state: "late" };
      await store.put(first, []);
      await store.stage(late, [["r", "1"]]);
      assert(await other.put({ ...first, revision: 2 }, []));
      assertEquals(
        await store.put({ ...late, revision: 2 }, [], "first"),
        false,
      );
      assert(await store.put({ ...late, revision: 3 }, [], "first"));
      assertEquals(await store.rows(late, ["r"]), ["1"]);
    },
  },
  {
    name: "what was staged and is gone stays so, however often it is put",
    async hold({ store, other = store }) {
      const entry = entryOf();
      await store.stage(entry, [["r", "1"]]);
      await other.remove(entry.issuer);
      for (let time = 0; time < 2; time++) {
        if (!await store.put(entry, [])) continue;
        assertEquals(await store.rows(entry, ["r"]), ["1"]);
        return;
      }
    },
  },
  {
    name: "all rows of a prefix are found, however many and however long",
    async hold({ store }) {
      const entry = entryOf();
      const long = "x".repeat(200_000);
      const rows = Array.from(
        { length: 2_500 },
        (_, i): PinRow => [`r=${i}`, i % 1_000 === 0 ? long + i : `${i}`],
      );
      for (let at = 0; at < rows.length; at += 500) {
        await store.stage(entry, rows.slice(at, at + 500));
      }
      await store.put(entry, [["s=1", "other"]]);
      const byKey = [...rows].sort(([a], [b]) => a < b ? -1 : 1);
      assertEquals(await allOf(store, entry, "r"), byKey);
      assertEquals(await allOf(store, entry, "s"), [["s=1", "other"]]);
      assertEquals(
        await store.rows(entry, rows.map(([key]) => key)),
        rows.map(([, value]) => value),
      );
      // A long row that becomes short leaves nothing of itself.
      await store.put({ ...entry, revision: 2 }, [["r=0", "short"]]);
      assertEquals(await store.rows(entry, ["r=0"]), ["short"]);
    },
  },
  {
    name: "an issuer that is forgotten begins anew",
    async hold({ store, other = store }) {
      const entry = entryOf();
      assertEquals(await store.remove(entry.issuer), false);
      await store.put(entry, [["r", "1"]]);
      assertEquals(await other.remove(entry.issuer), true);
      assertEquals(await store.get(entry.issuer), undefined);
      await assertRejects(() => store.rows(entry, ["r"]), StateMoved);
      assert(await store.put(entry, []));
      assertEquals(await store.rows(entry, ["r"]), [undefined]);
    },
  },
];
