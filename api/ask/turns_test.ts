import { assert, assertEquals, assertRejects } from "@std/assert";
import { SigError } from "@sig/core";
import { createBreather } from "./breather.ts";
import { createTurns } from "./turns.ts";
import { turns, waitUntil } from "../../tests/kit/wait.ts";

Deno.test("work is done in the order of coming, so many at a time", async () => {
  const takeTurn = createTurns({ places: 2, maxWaitMs: 10_000 });
  const order: string[] = [];
  let running = 0;
  let most = 0;
  const finish: (() => void)[] = [];
  const start = (name: string) =>
    takeTurn(async () => {
      order.push(name);
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => finish.push(resolve));
      running--;
      return name;
    });
  const all = ["a", "b", "c"].map(start);
  for (let finished = 0; finished < all.length; finished++) {
    await waitUntil("the next one begins", () => finish.length > 0);
    finish.shift()!();
    // Who comes when a place has just gone on to another one has to wait.
    await turns();
    if (finished === 0) all.push(start("d"));
  }
  assertEquals(await Promise.all(all), ["a", "b", "c", "d"]);
  assertEquals(order, ["a", "b", "c", "d"]);
  assertEquals(most, 2);
});

Deno.test("who waits too long is told to come back, and takes no place", async () => {
  const takeTurn = createTurns({ places: 1, maxWaitMs: 20 });
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = takeTurn(() => promise);
  let begun = false;
  const error = await assertRejects(
    () =>
      takeTurn(() => {
        begun = true;
        return Promise.resolve();
      }),
    SigError,
    "other large feeds were verified for 0.02 s",
  );
  assertEquals(error.code, "overloaded");
  assertEquals(error.context.retry_after_seconds, 1);
  resolve();
  await first;
  assertEquals(begun, false);
  assertEquals(await takeTurn(() => Promise.resolve("next")), "next");
});

Deno.test("work that fails leaves its place", async () => {
  const takeTurn = createTurns({ places: 1, maxWaitMs: 10_000 });
  await assertRejects(
    () =>
      takeTurn(() => Promise.reject(new SigError("invalid_line", "Cannot"))),
    SigError,
    "Cannot",
  );
  assertEquals(await takeTurn(() => Promise.resolve(1)), 1);
});

Deno.test("one slice a turn of the event loop, whoever asks", async () => {
  const breathe = createBreather();
  let slices = 0;
  let most = 0;
  let working = true;
  const work = async () => {
    for (let i = 0; i < 5; i++) {
      await breathe();
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
