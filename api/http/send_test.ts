import { assert, assertEquals } from "@std/assert";
import { isSigError } from "@sig/core";
import { type Context, Hono } from "hono";
import { waitUntil } from "../../tests/kit/wait.ts";
import { Capacity, type CapacityOptions, RequestBudget } from "./limits.ts";
import { send } from "./send.ts";

const TEXT = "x".repeat(200_000);

/** Sends a text as a route does; the quota shows what is held meanwhile. */
async function sending(
  body: string | Uint8Array<ArrayBuffer>,
  options: CapacityOptions = {},
) {
  const capacity = new Capacity({ sendTimeoutMs: 60_000, ...options });
  const app = new Hono<{ Variables: { budget: RequestBudget } }>();
  let thrown: unknown;
  app.get("/", (c) => {
    c.set("budget", new RequestBudget(capacity));
    try {
      return send(c as unknown as Context, body, "text/plain");
    } catch (error) {
      thrown = error;
      return c.body(null, 503);
    }
  });
  const response = await app.request("/");
  /** Returns whether a number of bytes is free. */
  const areFree = (bytes: number) => {
    const isTaken = capacity.bytes.take("", bytes);
    if (isTaken) capacity.bytes.release("", bytes);
    return isTaken;
  };
  return { response, areFree, thrown };
}

Deno.test("a response is its text in UTF-8, wherever it is split", async () => {
  for (
    const text of ["é", TEXT, "é".repeat(70_000), `x${"😀".repeat(70_000)}`]
  ) {
    const { response } = await sending(text);
    const length = response.headers.get("content-length");
    const bytes = String(new TextEncoder().encode(text).length);
    assertEquals(length, text.length > 10 ? bytes : null);
    assertEquals(await response.text(), text);
  }
});

Deno.test("a large response is sent in pieces and counts until the last one is read", async () => {
  const bytes = new Uint8Array(150_000).fill(7);
  const limits = { maxHeldBytes: 150_000 };
  const { response, areFree } = await sending(bytes, limits);
  const reader = response.body!.getReader();
  const lengths: number[] = [];
  for (;;) {
    assertEquals(areFree(150_000), lengths.length === 3);
    const { done, value } = await reader.read();
    if (done) break;
    lengths.push(value.length);
  }
  assertEquals(lengths, [65_536, 65_536, 18_928]);
});

Deno.test("a cancelled response no longer counts", async () => {
  const { response, areFree } = await sending(TEXT, { maxHeldBytes: 200_000 });
  const reader = response.body!.getReader();
  await reader.read();
  assertEquals(areFree(1), false);
  await reader.cancel();
  assertEquals(areFree(200_000), true);
});

Deno.test("a response beyond the limit reserves nothing", async () => {
  const { thrown, areFree } = await sending(TEXT, { maxHeldBytes: 199_999 });
  assert(isSigError(thrown, "overloaded"));
  assertEquals(areFree(199_999), true);
});

Deno.test("a response that is read too slowly, or not at all, is aborted", async () => {
  const text = "x".repeat(64 * 1024 * 100);
  for (const isRead of [true, false]) {
    const { response, areFree } = await sending(text, { sendTimeoutMs: 40 });
    const reader = response.body!.getReader();
    let isCut = false;
    reader.closed.catch(() => isCut = true);
    // Some of it is read all the time.
    await waitUntil("cut off", async () => {
      if (isRead) await reader.read().catch(() => {});
      return isCut;
    });
    assertEquals(areFree(64 * 1024 * 1024), true);
  }
});
