import { AssertionError, assertRejects } from "@std/assert";
import type { ChallengeStore } from "./challenge_store.ts";
import { createMemoryStore } from "./memory_store.ts";
import { CHALLENGE_STORE_RULES } from "./store_contract.ts";

/** What a careless driver does otherwise, and the rule that it breaks. */
const BROKEN: readonly (readonly [
  rule: string,
  breakIt: (store: ChallengeStore) => Partial<ChallengeStore>,
])[] = [
  [
    "of 100 parallel uses exactly one is the first",
    (store) => ({
      // Looks, and then writes.
      async consume(id, at) {
        const { state } = await store.read(id, at);
        await store.consume(id, at);
        return state === "issued" ? "consumed" : state;
      },
    }),
  ],
  ["the fifth failure burns, a use does not undo it", () => ({
    countFailure: () => Promise.resolve("issued"),
  })],
  ["it expires to the millisecond", (store) => ({
    // By a clock of its own.
    consume: (id) => store.consume(id, new Date(0)),
  })],
  ["60 s after its expiry it is forgotten, whatever it was", (store) => ({
    read: (id, at) => store.read(id, new Date(Math.min(at.getTime(), 0))),
  })],
  ["an id is taken once, also by a used challenge", (store) => ({
    create: (record, at) => store.create(record, at).catch(() => {}),
  })],
];

for (const [rule, breakIt] of BROKEN) {
  Deno.test(`a driver that breaks it fails the contract: ${rule}`, async () => {
    const { hold } = CHALLENGE_STORE_RULES.find(({ name }) => name === rule)!;
    const store = createMemoryStore();
    const broken: ChallengeStore = {
      create: (record, at) => store.create(record, at),
      read: (id, at) => store.read(id, at),
      consume: (id, at) => store.consume(id, at),
      countFailure: (id, at) => store.countFailure(id, at),
      close: () => store.close(),
      ...breakIt(store),
    };
    const close = () => broken.close();
    await assertRejects(() => hold({ store: broken, close }), AssertionError);
    await close();
  });
}
