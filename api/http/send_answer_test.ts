import { assert, assertEquals, assertRejects } from "@std/assert";
import { sendAnswer } from "./send_answer.ts";

function heldAnswer(text: string, timeoutMs = 60_000, limit = Infinity) {
  const state = { held: 0 };
  const send = () =>
    sendAnswer(text, {
      timeoutMs,
      hold(bytes) {
        if (state.held + bytes > limit) throw new RangeError("full");
        state.held += bytes;
      },
      release: (bytes) => void (state.held -= bytes),
    });
  return { state, send };
}

const TEXT = "x".repeat(200_000);

Deno.test("an answer is what its text is in UTF-8, wherever it is cut", async () => {
  // Two halves of a character on both sides of the 65,536th code unit.
  for (const text of [TEXT, "é".repeat(70_000), `x${"😀".repeat(70_000)}`]) {
    const { state, send } = heldAnswer(text);
    const { body, bytes } = send();
    assertEquals(bytes, new TextEncoder().encode(text).length);
    assertEquals(await new Response(body).text(), text);
    assertEquals(state.held, 0);
  }
});

Deno.test("an answer is counted until it is taken, piece by piece", async () => {
  const { state, send } = heldAnswer(TEXT);
  const reader = send().body.getReader();
  assertEquals(state.held, 200_000);
  let left = 200_000;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    left -= value.length;
    assertEquals(state.held, left);
  }
  assertEquals(left, 0);
});

Deno.test("an answer that nobody wants any more counts no more", async () => {
  const { state, send } = heldAnswer(TEXT);
  const reader = send().body.getReader();
  await reader.read();
  await reader.cancel();
  assertEquals(state.held, 0);
});

Deno.test("an answer for which there is no room holds nothing", () => {
  const { state, send } = heldAnswer(TEXT, 60_000, 199_999);
  let thrown: unknown;
  try {
    send();
  } catch (error) {
    thrown = error;
  }
  assert(thrown instanceof RangeError);
  assertEquals([thrown.message, state.held], ["full", 0]);
});

Deno.test("an answer that isn't read is cut off and counts no more", async () => {
  const { state, send } = heldAnswer(TEXT, 10);
  const reader = send().body.getReader();
  assertEquals((await reader.read()).done, false);
  await assertRejects(
    () => reader.closed,
    Error,
    "Cannot answer: the client does not read",
  );
  assertEquals(state.held, 0);
  await assertRejects(() => reader.read(), Error, "the client does not read");
});

Deno.test("an answer that is read too slowly is cut off in the end", async () => {
  const { state, send } = heldAnswer("x".repeat(64 * 1024 * 100), 40);
  const reader = send().body.getReader();
  let isCut = false;
  reader.closed.catch(() => isCut = true);
  // Something is taken all the time.
  for (let i = 0; i < 90 && !isCut; i++) {
    await reader.read().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assertEquals([isCut, state.held], [true, 0]);
});
