import { assert, assertEquals } from "@std/assert";
import { isSigError } from "@sig/core";
import { turns, waitUntil } from "../../tests/kit/wait.ts";
import { Capacity, type CapacityOptions, RequestBudget } from "./limits.ts";
import { readBytes } from "./read_body.ts";

interface Reading {
  /** The code and message; undefined if the body was read. */
  readonly error: string | undefined;
  readonly length: number;
  /** All bytes that were reserved. */
  readonly reserved: number;
}

interface Limits extends CapacityOptions {
  readonly maxBytes?: number;
}

/** Records the reserved bytes. */
class CountingBudget extends RequestBudget {
  reserved = 0;
  override reserve(bytes: number): void {
    super.reserve(bytes);
    this.reserved += bytes;
  }
}

async function read(
  request: Request,
  { maxBytes = 1_000_000, ...options }: Limits = {},
  capacity = new Capacity({ bodyTimeoutMs: 60_000, ...options }),
): Promise<Reading> {
  const budget = new CountingBudget(capacity);
  try {
    const bytes = await readBytes(request, maxBytes, budget);
    const { reserved } = budget;
    return { error: undefined, length: bytes.length, reserved };
  } catch (error) {
    assert(isSigError(error), String(error));
    const { reserved } = budget;
    return { error: `${error.code}: ${error.message}`, length: 0, reserved };
  } finally {
    budget.end();
  }
}

function post(body: BodyInit | null, announced?: string): Request {
  const headers = new Headers();
  if (announced !== undefined) headers.set("content-length", announced);
  return new Request("http://127.0.0.1/", { method: "POST", headers, body });
}

/** Returns a body of these chunks that ends by default. */
function stream(
  chunks: readonly Uint8Array[],
  end: "end" | "hang" | Error = "end",
  wait?: () => Promise<void>,
) {
  const seen = { cancelled: false };
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (wait) await wait();
      const chunk = chunks[at++];
      if (chunk !== undefined) controller.enqueue(chunk);
      else if (end === "end") controller.close();
      else if (end !== "hang") controller.error(end);
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  return { body, seen };
}

const TOO_LARGE =
  "body_too_large: Cannot read body: it is larger than 100 bytes";

Deno.test("reads a body of exactly the limit; rejects one more byte", async () => {
  for (const announce of [true, false]) {
    for (const [size, error] of [[100, undefined], [101, TOO_LARGE]] as const) {
      const request = post(
        new Uint8Array(size),
        announce ? String(size) : undefined,
      );
      assertEquals((await read(request, { maxBytes: 100 })).error, error);
    }
  }
  // Longer than announced.
  const longer = post(new Uint8Array(101), "5");
  assertEquals((await read(longer, { maxBytes: 100 })).error, TOO_LARGE);
});

Deno.test("rejects an announced length over the limit before reading", async () => {
  const { body, seen } = stream([], "hang");
  const request = post(body, "101");
  const refused = { error: TOO_LARGE, length: 0, reserved: 0 };
  assertEquals(await read(request, { maxBytes: 100 }), refused);
  assertEquals([request.bodyUsed, seen.cancelled], [false, false]);
});

Deno.test("a length that is not a number is ignored, and the bytes are counted", async () => {
  for (const announced of ["2, 2", "abc", "-1", "1e9", "0x10", "Infinity"]) {
    const { length, reserved } = await read(post("{}", announced));
    assertEquals(length, 2, announced);
    assert(Number.isSafeInteger(reserved) && reserved >= 2, announced);
  }
});

Deno.test("returns the bytes that were sent, however they are split into chunks", async () => {
  const sent = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
  for (const size of [1_000, 7_777, 100_000]) {
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < sent.length; at += size) {
      chunks.push(sent.subarray(at, at + size));
    }
    const budget = new RequestBudget(new Capacity());
    const bytes = await readBytes(post(stream(chunks).body), 100_000, budget);
    assertEquals(bytes, sent);
  }
});

Deno.test("a large announced length reserves nothing before bytes arrive", async () => {
  const late = await read(post(stream([], "hang").body, "900000"), {
    bodyTimeoutMs: 5,
  });
  assertEquals(late.reserved, 0);
  assertEquals(
    late.error,
    "request_timeout: Cannot read body: it did not come within 0.005 s",
  );
});

Deno.test("small chunks don't retain large buffers", async () => {
  // Some servers return one byte in a buffer of 64 KiB.
  const chunks = Array.from(
    { length: 250 },
    () => new Uint8Array(65_536).subarray(0, 1),
  );
  const { body } = stream(chunks, "end", turns);
  const { length, reserved } = await read(post(body));
  assertEquals({ length, reserved }, { length: 250, reserved: 16_384 });
});

Deno.test("reserved bytes cover the buffer, up to the limit", async () => {
  for (const size of [1, 16_384, 16_385, 500_000, 1_000_000]) {
    const { body } = stream([new Uint8Array(size)]);
    const { reserved } = await read(post(body));
    assert(reserved >= size && reserved <= Math.max(16_384, size), `${size}`);
  }
});

Deno.test("cancels a body whose bytes may not be reserved", async () => {
  const { body, seen } = stream([new Uint8Array(1)], "hang");
  assertEquals(
    (await read(post(body, "20000"), { maxHeldBytes: 1 })).error,
    "overloaded: Cannot answer: too many large requests are being answered",
  );
  await waitUntil("cancelled", () => seen.cancelled);
});

Deno.test("an arriving body counts until it is read; one that has arrived does not", async () => {
  const capacity = new Capacity({ maxConcurrent: 1, bodyTimeoutMs: 5 });
  const full =
    "overloaded: Cannot answer: too many requests are still on their way";
  // The maximum for one client.
  for (let i = 0; i < 16; i++) assert(capacity.bodies.take(""));
  const small = post(new Uint8Array(16_384), "16384");
  assertEquals((await read(small, {}, capacity)).error, undefined);
  const rows = [
    [() => post(stream([], "hang").body, "2"), "request_timeout"],
    [() => post(stream([]).body), undefined],
    [
      () => post(stream([], new Error("gone")).body, "20000"),
      "invalid_request",
    ],
  ] as const;
  for (const [make, code] of rows) {
    assertEquals((await read(make(), {}, capacity)).error, full);
    capacity.bodies.release("");
    const { error } = await read(make(), {}, capacity);
    assertEquals(error?.split(":")[0], code);
    assert(capacity.bodies.take(""), "it counts no more");
  }
});

Deno.test("a body that never ends is aborted at the timeout", async () => {
  const error =
    "request_timeout: Cannot read body: it did not come within 0.01 s";
  const { body, seen } = stream([new Uint8Array(1)], "hang");
  assertEquals((await read(post(body), { bodyTimeoutMs: 10 })).error, error);
  await waitUntil("cancelled", () => seen.cancelled);
  // Small and announced, which is read in another way.
  const small = post(stream([], "hang").body, "10");
  assertEquals((await read(small, { bodyTimeoutMs: 10 })).error, error);
});

Deno.test("a body is aborted where it exceeds the limit", async () => {
  const { body, seen } = stream([new Uint8Array(101)], "hang");
  assertEquals((await read(post(body), { maxBytes: 100 })).error, TOO_LARGE);
  await waitUntil("cancelled", () => seen.cancelled);
});

Deno.test("a disconnect of the client differs from internal errors", async () => {
  const broken = "invalid_request: Cannot read body: it broke off";
  const gone = new Error("connection reset");
  for (const announced of ["20000", "5"]) {
    const { error } = await read(post(stream([], gone).body, announced));
    assertEquals(error, broken);
  }
});

Deno.test("a missing body is an empty body", async () => {
  const { error, length } = await read(post(null));
  assertEquals([error, length], [undefined, 0]);
});

// promise: Bodies in small chunks do not delay other requests.

Deno.test("a body without a length has a limited number of chunks", async () => {
  const chunks = (count: number, size: number, wait?: () => Promise<void>) => {
    const all = Array.from({ length: count }, () => new Uint8Array(size));
    return stream(all, "end", wait);
  };
  const refused =
    "body_too_large: Cannot read body: it comes in too many small chunks";
  const small = chunks(256, 1);
  assertEquals((await read(post(small.body))).length, 256);
  const bytes = chunks(400, 1);
  assertEquals((await read(post(bytes.body))).error, refused);
  // The client can't send what is not read; the body ends after the rejection.
  assertEquals(bytes.seen.cancelled, false);
  await waitUntil("cancelled", () => bytes.seen.cancelled);
  // Chunks that are ready when read.
  const fast = chunks(300, 2_000);
  assertEquals((await read(post(fast.body))).error, refused);
  await waitUntil("cancelled", () => fast.seen.cancelled);
  // Packets of a slow network, and single bytes.
  const slow = chunks(300, 536, turns);
  assertEquals((await read(post(slow.body))).length, 300 * 536);
  const dripping = chunks(300, 1, turns);
  assertEquals((await read(post(dripping.body))).error, refused);
  await waitUntil("cancelled", () => dripping.seen.cancelled);
  // With an announced length everything that has arrived is one chunk.
  const announced = post(chunks(600, 1).body, "600");
  assertEquals((await read(announced)).length, 600);
});
