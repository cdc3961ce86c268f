import { assertEquals } from "@std/assert";
import { Semaphore } from "./semaphore.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { microtasks } from "../../tests/kit/wait.ts";

Deno.test("serves callers in order, up to the maximum concurrently", async () => {
  const semaphore = new Semaphore({
    maxWorking: 2,
    maxWaiting: 10,
    maxWaitMs: 60_000,
  });
  const entered: number[] = [];
  const all = [1, 2, 3, 4].map(async (caller) => {
    await semaphore.enter();
    entered.push(caller);
  });
  await microtasks();
  assertEquals(entered, [1, 2]);
  semaphore.leave();
  await microtasks();
  assertEquals(entered, [1, 2, 3]);
  semaphore.leave();
  await Promise.all(all);
  assertEquals(entered, [1, 2, 3, 4]);
  semaphore.leave();
  semaphore.leave();
  await semaphore.enter();
});

Deno.test("a full queue and a long wait are overloaded, and leak no place", async () => {
  const semaphore = new Semaphore({
    maxWorking: 1,
    maxWaiting: 1,
    maxWaitMs: 10,
  });
  await semaphore.enter();
  const tooSlow = expectSigError(
    () => semaphore.enter(),
    "overloaded",
    "Cannot read feed: too many large feeds",
  );
  const full = await expectSigError(
    () => semaphore.enter(),
    "overloaded",
    "Cannot read feed: too many large feeds",
  );
  assertEquals(full.context.retry_after_seconds, 1);
  await tooSlow;
  semaphore.leave();
  await semaphore.enter();
});
