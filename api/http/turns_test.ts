import { assert, assertEquals } from "@std/assert";
import { createTurns } from "./limits.ts";
import { turns } from "../../tests/kit/wait.ts";

Deno.test("each turn of the event loop runs one slice", async () => {
  const yieldToEventLoop = createTurns();
  let slices = 0;
  let most = 0;
  let working = true;
  const work = async () => {
    for (let i = 0; i < 5; i++) {
      await yieldToEventLoop();
      slices++;
    }
  };
  const watch = (async () => {
    while (working) {
      const before = slices;
      await turns();
      most = Math.max(most, slices - before);
    }
  })();
  await Promise.all(Array.from({ length: 10 }, work));
  working = false;
  await watch;
  assertEquals(slices, 50);
  assert(most <= 3, `${most} slices between two timers`);
});
