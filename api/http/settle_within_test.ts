import { assertEquals } from "@std/assert";
import { settleWithin } from "./settle_within.ts";

Deno.test("it waits for what settles, and leaves no timer behind", async () => {
  let isDone = false;
  const task = new Promise<void>((resolve) => setTimeout(resolve, 5))
    .then(() => void (isDone = true));
  await settleWithin(task, 60_000);
  assertEquals(isDone, true);
  await settleWithin(Promise.reject(new Error("whatever")), 60_000);
});

Deno.test("it stops waiting for what never settles", async () => {
  await settleWithin(new Promise(() => {}), 1);
});
