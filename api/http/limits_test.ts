import { assert, assertEquals, assertThrows } from "@std/assert";
import { isSigError, SigError } from "@sig/core";
import { Capacity, createTurns, Quota, RequestBudget } from "./limits.ts";
import { turns } from "../../tests/kit/wait.ts";

// promise: A client without a token gets at most a quarter of the waiting
//   requests of a public server.

const budgetOf = (capacity: Capacity, client = "192.0.2.1") =>
  new RequestBudget(capacity, client);

/** Returns code and message of an error; undefined if there is none. */
function refusal(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!isSigError(error)) throw error;
    assertEquals(error.context.retry_after_seconds, 1);
    return `${error.code}: ${error.message}`;
  }
}

Deno.test("a slot is taken once and released once", () => {
  const capacity = new Capacity({ maxConcurrent: 1 });
  const first = budgetOf(capacity);
  first.enter();
  first.enter();
  assertEquals(
    refusal(() => budgetOf(capacity).enter()),
    "overloaded: Cannot answer: too many requests are being answered",
  );
  first.end();
  const second = budgetOf(capacity);
  second.enter();
  second.end();
  assertEquals(capacity.working, 0);
});

Deno.test("a waiting request releases its slot and is answered afterwards", async () => {
  const capacity = new Capacity({ maxConcurrent: 1 });
  const gate = Promise.withResolvers<string>();
  const first = budgetOf(capacity);
  first.enter();
  const waits = [
    first.whileWaitingFor("a", () => gate.promise),
    first.whileWaitingFor("b", () => gate.promise),
  ];
  const second = budgetOf(capacity);
  second.enter();
  gate.resolve("answer");
  assertEquals(await Promise.all(waits), ["answer", "answer"]);
  // Both work now: a request that has waited is never rejected.
  assertEquals(capacity.working, 2);
  assertThrows(() => budgetOf(capacity).enter(), SigError);
  first.end();
  second.end();
  assertEquals(capacity.working, 0);
});

Deno.test("a request that ends while it waits leaves nothing counted", async () => {
  const capacity = new Capacity({ maxConcurrent: 1 });
  const gate = Promise.withResolvers<void>();
  const budget = budgetOf(capacity);
  budget.enter();
  const wait = budget.whileWaitingFor("a", () => gate.promise);
  budget.end();
  gate.resolve();
  await wait;
  assertEquals(capacity.working, 0);
});

const SAME =
  "overloaded: Cannot answer: too many requests wait for the same answer of others";
const SAME_CLIENT =
  "overloaded: Cannot answer: too many requests of this client wait for the same answer of others";

/** Starts waits of clients for dependencies, which end on demand. */
function waitsOf(places: number) {
  const capacity = new Capacity({ maxConcurrent: places });
  const gate = Promise.withResolvers<void>();
  return {
    answer: () => gate.resolve(),
    wait: (client: string, other: string) =>
      budgetOf(capacity, client).whileWaitingFor(other, () => gate.promise)
        .then(() => "answered", (error) => `${error.code}: ${error.message}`),
  };
}

Deno.test("waits for one dependency are limited to the number of slots; others are free", async () => {
  const { answer, wait } = waitsOf(2);
  const waits = [wait("c1", "silent"), wait("c2", "silent")];
  assertEquals(await wait("c3", "silent"), SAME);
  waits.push(wait("c1", "quick"));
  waits.push(wait("c1", "x"), wait("c1", "y"));
  assertEquals(
    await wait("c1", "z"),
    "overloaded: Cannot answer: too many requests wait for others",
  );
  waits.push(wait("c2", "z"));
  answer();
  for (const outcome of await Promise.all(waits)) {
    assertEquals(outcome, "answered");
  }
  assertEquals(await wait("c3", "silent"), "answered");
});

Deno.test("one client may use a quarter of the waits for one dependency", async () => {
  const { answer, wait } = waitsOf(512);
  const waits = Array.from({ length: 128 }, () => wait("c1", "silent"));
  assertEquals(await wait("c1", "silent"), SAME_CLIENT);
  for (const client of ["c2", "c3", "c4"]) {
    waits.push(...Array.from({ length: 128 }, () => wait(client, "silent")));
  }
  assertEquals(await wait("c5", "silent"), SAME);
  answer();
  for (const outcome of await Promise.all(waits)) {
    assertEquals(outcome, "answered");
  }
  assertEquals(await wait("c1", "silent"), "answered");
});

Deno.test("one client's arriving bodies leave capacity for other clients", async () => {
  const capacity = new Capacity({ maxConcurrent: 80 });
  const arrived = Promise.withResolvers<void>();
  const receive = (client?: string) =>
    budgetOf(capacity, client).receive(() => arrived.promise)
      .then(() => "read", (error) => `${error.code}: ${error.message}`);
  const bodies = Array.from({ length: 20 }, () => receive());
  assertEquals(
    await receive(),
    "overloaded: Cannot answer: too many requests are still on their way",
  );
  bodies.push(receive("192.0.2.2"));
  arrived.resolve();
  for (const outcome of await Promise.all(bodies)) {
    assertEquals(outcome, "read");
  }
  assertEquals(await receive(), "read");
});

Deno.test("a trusted client may use all places: waits, bodies and bytes", async () => {
  const gate = Promise.withResolvers<void>();
  for (const isTrusted of [true, false]) {
    const capacity = new Capacity({ maxConcurrent: 40, maxHeldBytes: 2 ** 28 });
    const budgets = Array.from({ length: 40 }, () => {
      const budget = budgetOf(capacity);
      if (isTrusted) budget.trust();
      return budget;
    });
    const outcomes = async (act: (budget: RequestBudget) => Promise<unknown>) =>
      (await Promise.all(
        budgets.map((budget) =>
          Promise.race([act(budget), Promise.resolve("taken")])
            .catch(({ code }) => code)
        ),
      )).filter((each) => each !== "overloaded").length;
    const wait = (budget: RequestBudget) =>
      budget.whileWaitingFor("issuer", () => gate.promise);
    const receive = (budget: RequestBudget) =>
      budget.receive(() => gate.promise);
    // deno-lint-ignore require-await -- its error is a rejection
    const hold = async (budget: RequestBudget) => budget.reserve(2 ** 22);
    assertEquals(
      [await outcomes(wait), await outcomes(receive), await outcomes(hold)],
      isTrusted ? [40, 40, 40] : [10, 16, 16],
    );
    if (isTrusted) {
      // The limits of all clients together remain.
      const other = budgetOf(capacity);
      other.trust();
      assertEquals(await wait(other).catch(({ code }) => code), "overloaded");
    }
  }
  gate.resolve();
});

Deno.test("a request that waits until its end takes no slot, and is counted until then", () => {
  const capacity = new Capacity({ maxConcurrent: 4 });
  const enter = () => {
    const budget = budgetOf(capacity);
    budget.waitUntilEnd("/oidc/token");
    budget.enter();
    budget.enter();
    return budget;
  };
  const first = enter();
  assertEquals([capacity.working, first.hasEntered], [0, true]);
  assertEquals(refusal(enter), SAME_CLIENT);
  first.end();
  const second = enter();
  second.end();
  assertEquals(capacity.working, 0);
});

Deno.test("bytes count for their client until the request ends or they are sent", () => {
  const MIB = 1024 * 1024;
  const capacity = new Capacity({ maxHeldBytes: 100 * MIB });
  const full =
    "overloaded: Cannot answer: too many large requests are being answered";
  const first = budgetOf(capacity);
  first.reserve(60 * MIB);
  assertEquals(refusal(() => budgetOf(capacity).reserve(5 * MIB)), full);
  const other = budgetOf(capacity, "192.0.2.2");
  const release = other.hold(40 * MIB);
  assertEquals(
    refusal(() => budgetOf(capacity, "192.0.2.3").hold(1)),
    full,
  );
  first.end();
  other.end();
  budgetOf(capacity, "192.0.2.3").hold(60 * MIB);
  release();
  // A second call has no effect.
  release();
  budgetOf(capacity).hold(40 * MIB);
});

Deno.test("an owner can take its share at most, and all owners the total", () => {
  const quota = new Quota(5, 3);
  // A rejected amount is not taken in part.
  assert(!quota.take("a", 4));
  assert(quota.take("a", 3));
  assert(!quota.take("a"));
  assert(!quota.take("b", 3));
  assert(quota.take("b", 2));
  assert(!quota.take("c"));
  quota.release("a");
  assert(quota.take("c"));
  assert(!quota.take("c"));
});

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

Deno.test("what needs two turns waits for one of several large bodies", async () => {
  const { yieldToEventLoop } = new Capacity();
  const order: string[] = [];
  const parse = async () => {
    await yieldToEventLoop();
    order.push("body");
  };
  const health = async () => {
    await turns(2);
    order.push("health");
  };
  await Promise.all([parse().then(health), parse(), parse(), parse()]);
  assertEquals(order, ["body", "body", "health", "body", "body"]);
});
