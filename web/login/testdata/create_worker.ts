/** Prints fresh challenges as a JSON array. Arguments: the store, how many. */

import { openStore } from "../../stores/open_store.ts";
import type { Challenge } from "../challenge.ts";
import { createChallenge } from "../create_challenge.ts";

const [storeText = "", count] = Deno.args;
const store = await openStore(storeText);
const challenges: Challenge[] = [];
for (let i = 0; i < Number(count); i++) {
  challenges.push(
    await createChallenge({}, {
      store,
      audiences: ["https://shop.example"],
      now: () => new Date(),
    }),
  );
}
console.log(JSON.stringify(challenges));
await store.close();
