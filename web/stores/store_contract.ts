/**
 * The tests that every driver of {@linkcode ChallengeStore} must pass, yours
 * included. For tests only: nothing of the login imports it. Long because each
 * rule is told where it is held against a driver.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "@sig/web";
 * import { CHALLENGE_STORE_RULES } from "@sig/web/store-contract";
 *
 * for (const { hold } of CHALLENGE_STORE_RULES) {
 *   const store = createMemoryStore(); // yours
 *   await hold({ store, close: () => store.close() });
 * }
 * ```
 *
 * @module
 */

import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import {
  type StoreRule as Rule,
  testStoreRules,
} from "@sig/consumer/pin-store-contract";
import {
  type ChallengeRecord,
  type ChallengeStore,
  REMEMBER_MS,
} from "./challenge_store.ts";

export {
  type OpenedRecords,
  RECORD_STORE_RULES,
  type RecordRule,
  testRecordStoreContract,
} from "./record_contract.ts";

/** A store to be tested, and a second way in, as another process has one. */
export interface OpenedStore {
  /** The store. */
  readonly store: ChallengeStore;
  /** The same challenges through another connection; absent: there is none. */
  readonly other?: ChallengeStore;
  /** Closes both. */
  readonly close: () => Promise<void>;
}

const NOW_MS = Date.parse("2026-01-31T09:00:00Z");
const TTL_MS = 300_000;

/** The clock, some milliseconds after the challenges were made. */
function after(ms: number): Date {
  return new Date(NOW_MS + ms);
}

/**
 * A record with an id of its own, made at 2026-01-31T09:00:00Z and good for
 * 300 s; `more` replaces members.
 */
export function recordOf(
  more: Partial<ChallengeRecord> = {},
): ChallengeRecord {
  return {
    challenge_id: crypto.randomUUID().replaceAll("-", ""),
    audience: "https://shop.example",
    nonce_sha256: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
    scopes: ["email", "profile"],
    subject: null,
    expires_at: "2026-01-31T09:05:00Z",
    ...more,
  };
}

/** One rule of the contract. */
export type StoreRule = Rule<OpenedStore>;

/**
 * Registers the contract's tests for one driver with `Deno.test`: 13 tests
 * named `<driver>: <rule>`. `open` is called for each of them and may answer the
 * same database again: no test asks for an id that another one has made.
 * `ignore` names them without running them, where the database is not there.
 */
export function testStoreContract(
  driver: string,
  open: () => Promise<OpenedStore>,
  ignore = false,
): void {
  testStoreRules(driver, CHALLENGE_STORE_RULES, open, ignore);
}

/** The contract's rules, for other test runners than Deno's. */
export const CHALLENGE_STORE_RULES: readonly StoreRule[] = [
  {
    name: "what was created is read, by every connection",
    hold: async (opened) => {
      const { store, other = store } = opened;
      const record = recordOf({ subject: "did:web:alice.example" });
      await store.create(record, after(0));
      const expected = { state: "issued", record } as const;
      assertEquals(await store.read(record.challenge_id, after(0)), expected);
      assertEquals(await other.read(record.challenge_id, after(0)), expected);
    },
  },

  {
    name: "what was never created is not found",
    hold: async ({ store }) => {
      const { challenge_id } = recordOf();
      const at = after(0);
      assertEquals(await store.read(challenge_id, at), { state: "not_found" });
      assertEquals(await store.countFailure(challenge_id, at), "not_found");
      assertEquals(await store.consume(challenge_id, at), "not_found");
      // Asking for it must not have made it.
      assertEquals(await store.read(challenge_id, at), { state: "not_found" });
    },
  },

  {
    name: "an id is taken once, also by a used challenge",
    hold: async ({ store }) => {
      const record = recordOf();
      await store.create(record, after(0));
      const again = () => store.create(record, after(0));
      await assertRejects(again, RangeError, "its id is taken");
      assertEquals(
        await store.consume(record.challenge_id, after(0)),
        "consumed",
      );
      await assertRejects(again, RangeError, "its id is taken");
      assertEquals(await store.consume(record.challenge_id, after(0)), "used");
    },
  },

  {
    name: "of 100 parallel uses exactly one is the first",
    hold: async (opened) => {
      const { store, other = store } = opened;
      const { challenge_id } = await create(store);
      const answers = await Promise.all(
        Array.from(
          { length: 100 },
          (_, i) => (i % 2 ? store : other).consume(challenge_id, after(1)),
        ),
      );
      assertEquals(count(answers, "consumed"), 1);
      assertEquals(count(answers, "used"), 99);
      assertEquals(await store.read(challenge_id, after(1)), { state: "used" });
    },
  },

  {
    name: "the fifth failure burns, a use does not undo it",
    hold: async ({ store }) => {
      const { challenge_id } = await create(store);
      for (let i = 1; i <= 4; i++) {
        assertEquals(
          await store.countFailure(challenge_id, after(i)),
          "issued",
        );
      }
      assertEquals(
        (await store.read(challenge_id, after(5))).state,
        "issued",
      );
      for (let i = 5; i <= 7; i++) {
        assertEquals(
          await store.countFailure(challenge_id, after(i)),
          "burned",
        );
        assertEquals(await store.consume(challenge_id, after(i)), "burned");
        assertEquals(
          await store.read(challenge_id, after(i)),
          { state: "burned" },
        );
      }
    },
  },

  {
    name: "four failures leave it open, to one use",
    hold: async ({ store }) => {
      const { challenge_id } = await create(store);
      for (let i = 0; i < 4; i++) {
        await store.countFailure(challenge_id, after(0));
      }
      assertEquals(await store.consume(challenge_id, after(0)), "consumed");
      // A failure after the use changes nothing.
      assertEquals(await store.countFailure(challenge_id, after(0)), "used");
    },
  },

  {
    name: "parallel failures are all counted",
    hold: async (opened) => {
      const { store, other = store } = opened;
      for (const failures of [4, 5]) {
        const { challenge_id } = await create(store);
        await Promise.all(
          Array.from(
            { length: failures },
            (_, i) =>
              (i % 2 ? store : other).countFailure(challenge_id, after(1)),
          ),
        );
        const { state } = await store.read(challenge_id, after(1));
        assertEquals(state, failures === 5 ? "burned" : "issued");
      }
    },
  },

  {
    name: "it expires to the millisecond",
    hold: async ({ store }) => {
      const { challenge_id } = await create(store);
      const { challenge_id: early } = await create(store);
      const state = async (ms: number) =>
        (await store.read(challenge_id, after(ms))).state;
      assertEquals(await state(TTL_MS - 1), "issued");
      assertEquals(await store.consume(early, after(TTL_MS - 1)), "consumed");
      for (const ms of [TTL_MS, TTL_MS + 1]) {
        assertEquals(await state(ms), "expired");
        assertEquals(await store.consume(challenge_id, after(ms)), "expired");
        assertEquals(
          await store.countFailure(challenge_id, after(ms)),
          "expired",
        );
      }
      // The clock is the caller's: nothing of this has changed the challenge.
      assertEquals(await state(0), "issued");
    },
  },

  {
    name: "used comes before burned before expired",
    hold: async ({ store }) => {
      const { challenge_id: used } = await create(store);
      const { challenge_id: burned } = await create(store);
      for (let i = 0; i < 5; i++) {
        await store.countFailure(burned, after(0));
        if (i === 3) await store.countFailure(used, after(0));
      }
      await store.consume(used, after(0));
      for (const ms of [TTL_MS, TTL_MS + REMEMBER_MS - 1]) {
        assertEquals(await store.read(used, after(ms)), { state: "used" });
        assertEquals(await store.read(burned, after(ms)), { state: "burned" });
        assertEquals(await store.consume(used, after(ms)), "used");
        assertEquals(await store.consume(burned, after(ms)), "burned");
      }
    },
  },

  {
    name: "60 s after its expiry it is forgotten, whatever it was",
    hold: async (opened) => {
      const { store } = opened;
      const open = await create(store);
      const used = await create(store);
      const burned = await create(store);
      await store.consume(used.challenge_id, after(0));
      for (let i = 0; i < 5; i++) {
        await store.countFailure(burned.challenge_id, after(0));
      }
      const all = [open, used, burned];
      const last = after(TTL_MS + REMEMBER_MS - 1);
      for (const { challenge_id } of all) {
        const { state } = await store.read(challenge_id, last);
        assertNotEquals(state, "not_found");
      }
      for (const { challenge_id } of all) {
        for (const ms of [TTL_MS + REMEMBER_MS, TTL_MS + REMEMBER_MS + 5_000]) {
          assertEquals(
            await store.read(challenge_id, after(ms)),
            { state: "not_found" },
          );
          assertEquals(
            await store.countFailure(challenge_id, after(ms)),
            "not_found",
          );
          assertEquals(
            await store.consume(challenge_id, after(ms)),
            "not_found",
          );
        }
      }
    },
  },

  {
    name: "a clock that gives no number opens nothing",
    hold: async ({ store }) => {
      const { challenge_id } = await create(store);
      const never = new Date(NaN);
      for (const ask of ["read", "consume", "countFailure"] as const) {
        let answer: unknown;
        try {
          answer = await store[ask](challenge_id, never);
        } catch (error) {
          answer = error;
        }
        assertNotEquals(answer, "consumed");
        assertNotEquals((answer as { state?: string }).state, "issued");
      }
      assertEquals(await store.consume(challenge_id, after(0)), "consumed");
    },
  },

  {
    name: "the largest challenge fits, text of any script too",
    hold: async (opened) => {
      const { store } = opened;
      const record = recordOf({
        audience: "did:web:" + "a".repeat(500),
        scopes: Array.from(
          { length: 32 },
          (_, i) => `${i}`.padEnd(128, "\"'~"),
        ),
        subject: `did:web:${"ü☃𝄞".repeat(100)}`,
      });
      await store.create(record, after(0));
      assertEquals(
        await store.read(record.challenge_id, after(0)),
        { state: "issued", record },
      );
    },
  },

  {
    name: "closing twice does nothing",
    hold: async ({ store }) => {
      await store.close();
      await store.close();
    },
  },
];

async function create(store: ChallengeStore): Promise<ChallengeRecord> {
  const record = recordOf();
  await store.create(record, after(0));
  return record;
}

function count(answers: readonly unknown[], wanted: unknown): number {
  return answers.filter((answer) => answer === wanted).length;
}
