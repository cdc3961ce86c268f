import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { SigError } from "@sig/core";
import { KnownBodies } from "./known_bodies.ts";
import { readKnownBody } from "./read_json_body.ts";

const LIMITS = {
  maxBytes: 4096,
  timeoutMs: 1_000,
  reserve() {},
  awaitBody: () => () => {},
};

function createReader() {
  const reader = {
    known: new KnownBodies<{ readonly body: unknown }>(),
    count: 0,
    read(body: unknown) {
      reader.count++;
      if (body === null) throw new SigError("invalid_request", "Cannot: null");
      return { body };
    },
  };
  return reader;
}

function send(body: BodyInit, type = "application/json"): Request {
  const headers = { "content-type": type };
  return new Request("http://127.0.0.1/", { method: "POST", headers, body });
}

Deno.test("a body is read once, and another spelling of it again", async () => {
  const reader = createReader();
  const first = await readKnownBody(send('{"a":1}'), LIMITS, reader);
  const second = await readKnownBody(send('{"a":1}'), LIMITS, reader);
  assertStrictEquals(first, second);
  assertEquals(reader.count, 1);
  const other = await readKnownBody(send('{"a": 1}'), LIMITS, reader);
  assertEquals(other, { body: { a: 1 } });
  assertEquals(reader.count, 2);
});

Deno.test("what was refused is read, and refused, again", async () => {
  const reader = createReader();
  for (const count of [1, 2]) {
    await assertRejects(
      () => readKnownBody(send("null"), LIMITS, reader),
      SigError,
      "Cannot: null",
    );
    assertEquals(reader.count, count);
  }
});

Deno.test("a known body of another type is refused", async () => {
  const reader = createReader();
  await readKnownBody(send("{}"), LIMITS, reader);
  const error = await assertRejects(
    () => readKnownBody(send("{}", "text/plain"), LIMITS, reader),
    SigError,
    "it must be application/json in UTF-8",
  );
  assertEquals(error.code, "unsupported_media_type");
});

Deno.test("bytes that are no UTF-8 are never a known body", async () => {
  const reader = createReader();
  // What a lenient decoder makes of the second is the first.
  await readKnownBody(send('"\ufffd"'), LIMITS, reader);
  const bytes = new Uint8Array([0x22, 0xff, 0x22]);
  const error = await assertRejects(
    () => readKnownBody(send(bytes), LIMITS, reader),
    SigError,
    "it is not UTF-8",
  );
  assertEquals(error.code, "invalid_json");
});

Deno.test("a BOM makes another body of a known one", async () => {
  const reader = createReader();
  await readKnownBody(send("{}"), LIMITS, reader);
  await assertRejects(
    () => readKnownBody(send("\ufeff{}"), LIMITS, reader),
    SigError,
    "Cannot read body",
  );
});

Deno.test("ever new and large bodies take no more room than is meant for them", async () => {
  const known = new KnownBodies<{ readonly i: number }>();
  const bytesOf = (i: number) => new TextEncoder().encode(`{"i":${i}}`);
  let count = 0;
  const read = (bytes: Uint8Array, i: number) =>
    known.read(bytes, () => {
      count++;
      return Promise.resolve({ i });
    });
  await read(bytesOf(0), 0);
  for (let i = 1; i < 2_000; i++) {
    await read(bytesOf(i), i);
    // What is asked for again stays.
    assertEquals(await read(bytesOf(0), 0), { i: 0 });
  }
  assertEquals(count, 2_000);
  // From the last to the first, so that reading one displaces none to come.
  count = 0;
  for (let i = 1_999; i >= 0; i--) {
    assertEquals(await read(bytesOf(i), i), { i });
  }
  const kept = 2_000 - count;
  assert(kept > 0 && kept <= 1_024);
  const large = new Uint8Array(1_025).fill(0x20);
  count = 0;
  for (const i of [-1, -2]) assertEquals(await read(large, i), { i });
  assertEquals(count, 2);
});
