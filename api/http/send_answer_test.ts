import { assert, assertEquals, assertRejects } from "@std/assert";
import { bySize, piecesOf, sendAnswer } from "./send_answer.ts";
import type { TextPieces } from "./send_answer.ts";
import { waitUntil } from "../../tests/kit/wait.ts";

function heldAnswer(
  text: string | TextPieces,
  timeoutMs = 60_000,
  limit = Infinity,
) {
  const state = { held: 0 };
  const send = () =>
    sendAnswer(typeof text === "string" ? piecesOf(text) : text, {
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
    const { length } = piecesOf(text);
    assertEquals(length, new TextEncoder().encode(text).length);
    assertEquals(await new Response(send()).text(), text);
    assertEquals(state.held, 0);
  }
});

Deno.test("bytes are sent as they are, in chunks, and counted until then", async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(50_000));
  const all = new Uint8Array(150_000);
  for (const at of [0, 50_000, 100_000]) all.set(bytes, at);
  let held = 0;
  const body = sendAnswer(all, {
    timeoutMs: 60_000,
    hold: (count) => void (held += count),
    release: (count) => void (held -= count),
  });
  assertEquals(held, 150_000);
  assertEquals(await new Response(body).bytes(), all);
  assertEquals(held, 0);
});

Deno.test("pieces of any length are sent in chunks of about 64 KiB", async () => {
  const pieces = ["", "a", "b".repeat(150_000), ...Array(70_000).fill("cd")];
  const { send } = heldAnswer({ pieces, heldBytes: 1 });
  const lengths: number[] = [];
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of send()) {
    lengths.push(chunk.length);
    chunks.push(chunk);
  }
  assertEquals(await new Blob(chunks).text(), pieces.join(""));
  assertEquals(lengths, [1, 65_536, 65_536, 65_536, 65_536, 27_856]);
});

Deno.test("no piece is made before it is taken", async () => {
  let made = 0;
  function* pieces() {
    for (; made < 10; made++) yield "x".repeat(64 * 1024);
  }
  const { state, send } = heldAnswer({ pieces: pieces(), heldBytes: 7 });
  const reader = send().getReader();
  assertEquals([made, state.held], [0, 7]);
  await reader.read();
  assert(made <= 2, `${made} pieces`);
  await reader.cancel();
  assert(made <= 2, `${made} pieces`);
  assertEquals(state.held, 0);
});

Deno.test("a piece that can't be made cuts the answer off", async () => {
  // deno-lint-ignore require-yield -- it fails at its first piece
  function* pieces(): Generator<string> {
    throw new RangeError("broken");
  }
  const { state, send } = heldAnswer({ pieces: pieces(), heldBytes: 7 });
  await assertRejects(() => new Response(send()).text(), RangeError, "broken");
  assertEquals(state.held, 0);
});

Deno.test("an answer is counted until its last piece is taken, in bytes of memory", async () => {
  for (
    const [text, held] of [[TEXT, 200_000], [`${TEXT}€`, 400_002]] as const
  ) {
    const { state, send } = heldAnswer(text);
    const reader = send().getReader();
    for (;;) {
      assertEquals(state.held, held);
      if ((await reader.read()).done) break;
    }
    assertEquals(state.held, 0);
  }
});

Deno.test("a small answer is one text, a large one is sent in pieces", () => {
  assertEquals(bySize({ pieces: ["a", "b"], heldBytes: 4096 }), "ab");
  const large = { pieces: ["a", "b"], heldBytes: 4097 };
  assertEquals(bySize(large), large);
  assertEquals(typeof bySize("x".repeat(4096)), "string");
  assertEquals(typeof bySize("x".repeat(4097)), "object");
});

Deno.test("an answer that nobody wants any more counts no more", async () => {
  const { state, send } = heldAnswer(TEXT);
  const reader = send().getReader();
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
  const reader = send().getReader();
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
  const reader = send().getReader();
  let isCut = false;
  reader.closed.catch(() => isCut = true);
  // Something is taken all the time.
  await waitUntil("cut off", async () => {
    await reader.read().catch(() => {});
    return isCut;
  });
  assertEquals([isCut, state.held], [true, 0]);
});
