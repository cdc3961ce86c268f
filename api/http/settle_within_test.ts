import { assertEquals } from "@std/assert";
import { settleWithin } from "./settle_within.ts";
import { turns } from "../../tests/kit/wait.ts";

Deno.test("it waits for what settles, and leaves no timer behind", async () => {
  let isDone = false;
  const task = turns()
    .then(() => void (isDone = true));
  assertEquals(await settleWithin(task, 60_000), true);
  assertEquals(isDone, true);
  const failed = Promise.reject(new Error("whatever"));
  assertEquals(await settleWithin(failed, 60_000), true);
});

Deno.test("it stops waiting for what never settles", async () => {
  assertEquals(await settleWithin(new Promise(() => {}), 1), false);
});
