import { assert, assertEquals } from "@std/assert";
import { isSigError, SigError } from "@sig/core";
import { type BodyLimits, readBody } from "./read_body.ts";
import { turns, waitUntil } from "../../tests/kit/wait.ts";

interface Reading {
  /** The code and message, undefined when the body was read. */
  readonly error: string | undefined;
  readonly length: number;
  /** All that was reserved. */
  readonly reserved: number;
}

async function read(
  request: Request,
  limits: Partial<BodyLimits> = {},
): Promise<Reading> {
  let reserved = 0;
  try {
    const bytes = await readBody(request, {
      maxBytes: 1_000_000,
      timeoutMs: 60_000,
      reserve: (bytes) => reserved += bytes,
      awaitBody: () => () => {},
      ...limits,
    });
    return { error: undefined, length: bytes.length, reserved };
  } catch (error) {
    assert(isSigError(error), String(error));
    return { error: `${error.code}: ${error.message}`, length: 0, reserved };
  }
}

function post(body: BodyInit | null, announced?: string): Request {
  const headers = new Headers();
  if (announced !== undefined) headers.set("content-length", announced);
  return new Request("http://127.0.0.1/", { method: "POST", headers, body });
}

/** A body that comes in these chunks, and then ends unless told otherwise. */
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

Deno.test("a body of exactly the limit is read, one byte more is not", async () => {
  for (const announce of [true, false]) {
    for (const [size, error] of [[100, undefined], [101, TOO_LARGE]] as const) {
      const request = post(
        new Uint8Array(size),
        announce ? String(size) : undefined,
      );
      assertEquals((await read(request, { maxBytes: 100 })).error, error);
    }
  }
});

Deno.test("an announced length over the limit is refused before a byte is read", async () => {
  const { body, seen } = stream([], "hang");
  const request = post(body, "101");
  assertEquals(await read(request, { maxBytes: 100 }), {
    error: TOO_LARGE,
    length: 0,
    reserved: 0,
  });
  assertEquals(request.bodyUsed, false);
  assertEquals(seen.cancelled, false);
});

Deno.test("a body that is longer than announced does not get past the limit", async () => {
  const { error } = await read(post(new Uint8Array(101), "5"), {
    maxBytes: 100,
  });
  assertEquals(error, TOO_LARGE);
});

Deno.test("a length that is no number is not believed, but counted", async () => {
  for (const announced of ["2, 2", "abc", "-1", "1e9", "0x10", "Infinity"]) {
    const { length, reserved } = await read(post("{}", announced));
    assertEquals(length, 2, announced);
    assert(Number.isSafeInteger(reserved) && reserved >= 2, announced);
  }
});

Deno.test("the bytes are those that were sent, in whatever chunks", async () => {
  const sent = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
  for (const size of [1_000, 7_777, 100_000]) {
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < sent.length; at += size) {
      chunks.push(sent.subarray(at, at + size));
    }
    const bytes = await readBody(post(stream(chunks).body), {
      maxBytes: 100_000,
      timeoutMs: 60_000,
      reserve() {},
      awaitBody: () => () => {},
    });
    assertEquals(bytes, sent);
  }
});

Deno.test("a large announcement holds nothing until bytes come", async () => {
  const late = await read(post(stream([], "hang").body, "900000"), {
    timeoutMs: 5,
  });
  assertEquals(late.reserved, 0);
  assertEquals(
    late.error,
    "request_timeout: Cannot read body: it did not come within 0.005 s",
  );
});

Deno.test("small chunks don't hold on to large buffers", async () => {
  // As some servers give them: one byte of a buffer of 64 KiB.
  const chunks = Array.from(
    { length: 250 },
    () => new Uint8Array(65_536).subarray(0, 1),
  );
  const { body } = stream(chunks, "end", turns);
  const { length, reserved } = await read(post(body));
  assertEquals({ length, reserved }, { length: 250, reserved: 16_384 });
});

Deno.test("what is reserved covers what is held, and not more than the limit", async () => {
  for (const size of [1, 16_384, 16_385, 500_000, 1_000_000]) {
    const { body } = stream([new Uint8Array(size)]);
    const { reserved } = await read(post(body));
    assert(reserved >= size && reserved <= Math.max(16_384, size), `${size}`);
  }
});

Deno.test("a body whose bytes may not be held is left alone", async () => {
  const reserve = () => {
    throw new SigError("overloaded", "Cannot answer: full");
  };
  const { body, seen } = stream([new Uint8Array(1)], "hang");
  assertEquals(
    (await read(post(body), { reserve })).error,
    "overloaded: Cannot answer: full",
  );
  assertEquals(seen.cancelled, true);
});

Deno.test("a small body that is there waits for nobody's leave", async () => {
  const awaitBody = () => {
    throw new SigError("overloaded", "Cannot answer: full");
  };
  const body = new Uint8Array(16_384);
  assertEquals(await read(post(body, "16384"), { awaitBody }), {
    error: undefined,
    length: 16_384,
    reserved: 0,
  });
});

Deno.test("a body on its way needs leave, and gives it back however it ends", async () => {
  const full = "overloaded: Cannot answer: full";
  const refuse = () => {
    throw new SigError("overloaded", "Cannot answer: full");
  };
  let waiting = 0;
  const awaitBody = () => {
    waiting++;
    return () => waiting--;
  };
  const rows = [
    [() => post(stream([], "hang").body, "2"), "request_timeout"],
    [() => post(stream([]).body), undefined],
    [() => post(stream([], "hang").body), "request_timeout"],
    [() => post(stream([], new Error("gone")).body), "invalid_request"],
  ] as const;
  for (const [make, code] of rows) {
    assertEquals((await read(make(), { awaitBody: refuse })).error, full);
    const { error } = await read(make(), { awaitBody, timeoutMs: 5 });
    assertEquals(error?.split(":")[0], code);
    assertEquals(waiting, 0);
  }
});

Deno.test("a body that never ends is given up, and no more of it is read", async () => {
  const error =
    "request_timeout: Cannot read body: it did not come within 0.01 s";
  const { body, seen } = stream([new Uint8Array(1)], "hang");
  assertEquals((await read(post(body), { timeoutMs: 10 })).error, error);
  assertEquals(seen.cancelled, true);
  // Small and announced: read in another way.
  const small = post(stream([], "hang").body, "10");
  assertEquals((await read(small, { timeoutMs: 10 })).error, error);
});

Deno.test("a body over the limit is given up where it passes it", async () => {
  const { body, seen } = stream([new Uint8Array(101)], "hang");
  assertEquals((await read(post(body), { maxBytes: 100 })).error, TOO_LARGE);
  assertEquals(seen.cancelled, true);
});

Deno.test("a client that goes away is told apart from failures of ours", async () => {
  const broken = "invalid_request: Cannot read body: it broke off";
  const gone = new Error("connection reset");
  assertEquals((await read(post(stream([], gone).body))).error, broken);
  assertEquals((await read(post(stream([], gone).body, "5"))).error, broken);
});

Deno.test("no body is an empty body", async () => {
  assertEquals(await read(post(null)), {
    error: undefined,
    length: 0,
    reserved: 0,
  });
});

Deno.test("a body in small chunks that come faster than they are read is left alone", async () => {
  const byte = new Uint8Array([32]);
  const crumbs = stream(Array.from({ length: 400 }, () => byte), "hang");
  const { error, reserved } = await read(post(crumbs.body));
  assertEquals(
    error,
    "body_too_large: Cannot read body: it comes in too many small chunks",
  );
  // What piles up behind them is held as well.
  assert(reserved > 16 * 1024 * 1024, `${reserved}`);
  // What nobody takes, nobody can send; when the refusal is sent, it ends.
  assertEquals(crumbs.seen.cancelled, false);
  await waitUntil("cancelled", () => crumbs.seen.cancelled);
});

Deno.test("chunks of a slow network and chunks of 32 KiB are read, however many", async () => {
  const packets = Array.from({ length: 600 }, () => new Uint8Array(536));
  const slow = stream(packets, "end", turns);
  assertEquals((await read(post(slow.body))).length, 600 * 536);
  const large = Array.from({ length: 500 }, () => new Uint8Array(32 * 1024));
  const fast = stream(large);
  const limits = { maxBytes: 16 * 1024 * 1024 };
  assertEquals((await read(post(fast.body), limits)).length, 500 * 32 * 1024);
  // Of an announced body all that has come is one chunk.
  const known = stream(packets);
  const announced = post(known.body, String(600 * 536));
  assertEquals((await read(announced)).length, 600 * 536);
});
