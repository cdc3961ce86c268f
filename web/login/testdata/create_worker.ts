/**
 * Creates challenges and prints them as a JSON array. Arguments: the store, the
 * count.
 */

import { openStore } from "@sig/consumer/store";
import { challengesIn } from "../challenges.ts";
import { type Challenge, createChallenge } from "../create_challenge.ts";

const [storeText = "", count] = Deno.args;
const store = await openStore(storeText);
const created: Challenge[] = [];
for (let i = 0; i < Number(count); i++) {
  created.push(
    await createChallenge({}, {
      challenges: challengesIn(store),
      audiences: ["https://shop.example"],
      now: () => new Date(),
    }),
  );
}
console.log(JSON.stringify(created));
await store.close();
