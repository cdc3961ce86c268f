import { assertEquals, assertThrows } from "@std/assert";
import { isSigError, SigError } from "@sig/core";
import { Load, RequestFlow } from "./request_flow.ts";

const flowOf = (load: Load, client = "192.0.2.1") =>
  new RequestFlow(load, () => client);

/** Code and message of what is thrown, undefined when nothing is. */
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

Deno.test("a place is taken once, and given back once", () => {
  const load = new Load({ places: 1, heldBytes: 1 });
  const first = flowOf(load);
  first.enter();
  first.enter();
  assertEquals(
    refusal(() => flowOf(load).enter()),
    "overloaded: Cannot answer: too many requests are being answered",
  );
  first.end();
  const second = flowOf(load);
  second.enter();
  second.end();
  assertEquals(load.working, 0);
});

Deno.test("who waits for others leaves the place, and is answered afterwards", async () => {
  const load = new Load({ places: 1, heldBytes: 1 });
  const gate = Promise.withResolvers<string>();
  const first = flowOf(load);
  first.enter();
  const waits = [
    first.waitFor("a", () => gate.promise),
    first.waitFor("b", () => gate.promise),
  ];
  const second = flowOf(load);
  second.enter();
  gate.resolve("answer");
  assertEquals(await Promise.all(waits), ["answer", "answer"]);
  // Both work now: nobody who has waited is sent away.
  assertEquals(load.working, 2);
  assertThrows(() => flowOf(load).enter(), SigError);
  first.end();
  second.end();
  assertEquals(load.working, 0);
});

Deno.test("a request that ends while it still waits leaves nothing behind", async () => {
  const load = new Load({ places: 1, heldBytes: 1 });
  const gate = Promise.withResolvers<void>();
  const flow = flowOf(load);
  flow.enter();
  const wait = flow.waitFor("a", () => gate.promise);
  flow.end();
  gate.resolve();
  await wait;
  assertEquals(load.working, 0);
});

const SAME =
  "overloaded: Cannot answer: too many requests wait for the same answer of others";
const SAME_CLIENT =
  "overloaded: Cannot answer: too many requests of this client wait for the same answer of others";

/** Waits of clients for others that answer when they are told to. */
function waitsOf(places: number) {
  const load = new Load({ places, heldBytes: 1 });
  const gate = Promise.withResolvers<void>();
  return {
    answer: () => gate.resolve(),
    wait: (client: string, other: string, each?: number) =>
      flowOf(load, client).waitFor(other, () => gate.promise, each)
        .then(() => "answered", (error) => `${error.code}: ${error.message}`),
  };
}

Deno.test("as many as there are places wait for one, others for others", async () => {
  const { answer, wait } = waitsOf(2);
  const waits = [wait("c1", "silent"), wait("c2", "silent")];
  assertEquals(await wait("c3", "silent"), SAME);
  waits.push(wait("c1", "quick"));
  waits.push(wait("c3", "chosen", 1));
  assertEquals(await wait("c3", "chosen", 1), SAME_CLIENT);
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

Deno.test("one client takes a quarter of the waits for one other", async () => {
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

Deno.test("one client's bodies on their way leave room for those of others", () => {
  const load = new Load({ places: 80, heldBytes: 1 });
  const arrived = Array.from({ length: 20 }, () => flowOf(load).awaitBody());
  assertEquals(
    refusal(() => flowOf(load).awaitBody()),
    "overloaded: Cannot answer: too many requests are still on their way",
  );
  flowOf(load, "192.0.2.2").awaitBody();
  arrived[0]!();
  assertEquals(refusal(() => flowOf(load).awaitBody()), undefined);
});

Deno.test("bytes are counted for their client until the end, or until sent", () => {
  const MIB = 1024 * 1024;
  const load = new Load({ places: 1, heldBytes: 100 * MIB });
  const full =
    "overloaded: Cannot answer: too many large requests are being answered";
  const first = flowOf(load);
  first.reserve(60 * MIB);
  assertEquals(refusal(() => flowOf(load).reserve(5 * MIB)), full);
  const other = flowOf(load, "192.0.2.2");
  other.hold(40 * MIB);
  assertEquals(
    refusal(() => flowOf(load, "192.0.2.3").hold(1)),
    full,
  );
  first.end();
  other.end();
  flowOf(load, "192.0.2.3").hold(60 * MIB);
  other.release(40 * MIB);
  flowOf(load).hold(40 * MIB);
});
