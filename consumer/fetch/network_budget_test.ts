import { assertEquals, assertRejects } from "@std/assert";
import { createNetworkBudget, WaitTimeout } from "./network_budget.ts";

const never = () => new Promise<never>(() => {});

// real time: the budget itself measures real time.
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

Deno.test("a wait ends at the nearer of the two limits", async () => {
  const budget = createNetworkBudget(50);
  const first = await assertRejects(() => budget.wait(never(), 5), WaitTimeout);
  assertEquals(first.scope, "wait");
  const second = await assertRejects(() => budget.wait(never()), WaitTimeout);
  assertEquals(second.scope, "total");
  const third = await assertRejects(
    () => budget.wait(Promise.resolve()),
    WaitTimeout,
  );
  assertEquals(third.scope, "total");
});

Deno.test("only the time within waits counts", async () => {
  const budget = createNetworkBudget(200);
  await budget.wait(Promise.resolve());
  // More time than the budget passes, but not within a wait.
  await pause(300);
  assertEquals(await budget.wait(Promise.resolve("ok")), "ok");
});

Deno.test("the budget counts the sum of all waits", async () => {
  const budget = createNetworkBudget(60);
  await assertRejects(async () => {
    for (let i = 0; i < 100; i++) await budget.wait(pause(5));
  }, WaitTimeout);
  // The work of the last wait is still pending.
  await pause(20);
});

Deno.test("work that rejects after its wait is not an unhandled rejection", async () => {
  const budget = createNetworkBudget(5);
  const work = pause(20).then(() => {
    throw new Error("late");
  });
  await assertRejects(() => budget.wait(work), WaitTimeout);
  await pause(30);
});
