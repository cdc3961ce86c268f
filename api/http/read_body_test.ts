import { assert, assertEquals } from "@std/assert";
import { isSigError, type SigError } from "@sig/core";
import { readForm, readJson } from "./read_body.ts";
import { type Context, Hono } from "hono";

/** Calls a reader as a route does, without a service around it. */
async function within<T>(
  request: RequestInit,
  work: (c: Context) => Promise<T>,
): Promise<T> {
  let result: Promise<T> | undefined;
  const app = new Hono();
  app.post("/", async (c) => {
    result = work(c);
    await result.catch(() => {});
    return c.body(null);
  });
  await app.request("/", { method: "POST", ...request });
  return await result!;
}

const JSON_HEADERS = { "content-type": "application/json" };

function read(
  body: BodyInit,
  headers: HeadersInit = JSON_HEADERS,
): Promise<unknown> {
  return within({ body, headers }, (c) => readJson(c, 1_000_000));
}

async function refusal(reading: Promise<unknown>): Promise<SigError> {
  const error = await reading.then((value) => value, (error) => error);
  assert(isSigError(error), `not refused: ${JSON.stringify(error)}`);
  return error;
}

Deno.test("reads JSON in UTF-8, whatever the spelling of its content type", async () => {
  const types = ["application/json", "Application/JSON"];
  const charsets = [";charset=utf-8", '; charset="UTF-8"', " ; charset=utf-8"];
  const others = ["; profile=x; charset=utf-8", ';a="b;\\"c";'];
  const all = [...charsets, ...others].map((each) => types[0] + each);
  for (const type of [...types, ...all]) {
    assertEquals(await read('{"a":[1]}', { "content-type": type }), { a: [1] });
  }
});

Deno.test("rejects other content types, which forms and scripts can send", async () => {
  const media = ["", "text/plain", "text/json", "application/jsonp"];
  const forms = ["application/json2", "application/x-www-form-urlencoded"];
  const others = [
    "multipart/form-data; boundary=x",
    "application/problem+json",
  ];
  const parameters = [
    ...["; charset=utf-16", "; charset=latin1", "; boundary", "; a=b c"],
    ...['; a="b', " x", '; charset="utf-16"', '; charset="utf-8'],
    ...[", text/plain", "; charset=utf-8; charset=utf-16"],
  ].map((each) => `application/json${each}`);
  for (const type of [...media, ...forms, ...others, ...parameters]) {
    const error = await refusal(read("{}", { "content-type": type }));
    assertEquals(
      [error.code, error.message, error.context.hint],
      [
        "unsupported_media_type",
        "Cannot read body: it must be application/json in UTF-8",
        "Send the header content-type: application/json.",
      ],
      type,
    );
  }
  const { code } = await refusal(read(new Uint8Array([0x7b, 0x7d]), {}));
  assertEquals(code, "unsupported_media_type");
});

Deno.test("rejects a long content type as fast as a short one", async () => {
  for (const gap of [" ;", ";", '; a=""', " ".repeat(50) + ";"]) {
    const type = `application/json${gap.repeat(2_000)}@`;
    const { code } = await refusal(read("{}", { "content-type": type }));
    assertEquals(code, "unsupported_media_type");
  }
});

Deno.test("rejects a compressed body", async () => {
  for (const encoding of ["gzip", "br", "deflate", "zstd", "gzip, identity"]) {
    const error = await refusal(read("{}", {
      "content-type": "application/json",
      "content-encoding": encoding,
    }));
    assertEquals(
      [error.code, error.message],
      ["unsupported_media_type", "Cannot read body: it must not be compressed"],
    );
  }
  const headers = { "content-type": "application/json" };
  assertEquals(
    await read("{}", { ...headers, "content-encoding": "Identity" }),
    {},
  );
});

Deno.test("rejects what JSON.parse tolerates, without quoting the body", async () => {
  const bytes = (...codes: number[]) => new Uint8Array(codes);
  const rows: readonly (readonly [BodyInit, string, string | undefined])[] = [
    ["", "syntax error", undefined],
    ["secret", "syntax error", undefined],
    ['{"a":1,}', "syntax error", undefined],
    ['{"a":1}{"b":2}', "syntax error", undefined],
    ['{"a":1,"\\u0061":2}', "a member occurs twice", "/a"],
    ['{"a":{"b":1,"b":2}}', "a member occurs twice", "/a/b"],
    ["\ufeff{}", "syntax error", undefined],
    [bytes(0xef, 0xbb, 0xbf, 0x7b, 0x7d), "syntax error", undefined],
    [bytes(0x22, 0xff, 0x22), "it is not UTF-8", undefined],
    [bytes(0xff, 0xfe, 0x7b, 0, 0x7d, 0), "it is not UTF-8", undefined],
    ['{"a":"\\ud800"}', "a string holds a lone surrogate", "/a"],
    ['{"a":1e999}', "a number is too large", "/a"],
    ['{"a":9007199254740993}', "an integer is outside ±(2^53-1)", "/a"],
    ["[".repeat(100_000), "more than 16 levels", undefined],
    [
      '{"a":'.repeat(20) + "1" + "}".repeat(20),
      "more than 16 levels",
      undefined,
    ],
  ];
  for (const [body, why, pointer] of rows) {
    const { code, message, context } = await refusal(read(body));
    assertEquals(code, "invalid_json");
    assert(message.startsWith(`Cannot read body: ${why}`), message);
    assert(!message.includes("secret"));
    if (pointer !== undefined) assertEquals(context.pointer, pointer);
  }
});

Deno.test("reads 50,000 values; rejects more with the limit", async () => {
  const zeros = (n: number) => `[${Array(n).fill(0).join(",")}]`;
  assertEquals((await read(zeros(49_999)) as unknown[]).length, 49_999);
  const error = await refusal(read(zeros(50_000)));
  assertEquals(
    [error.code, error.message, error.context.limit],
    ["invalid_json", "Cannot read body: more than 50000 values", 50_000],
  );
});

Deno.test("reads a form with repeated fields, only in UTF-8", async () => {
  const readFields = (body: BodyInit, type: string, encoding = "identity") =>
    within({
      body,
      headers: { "content-type": type, "content-encoding": encoding },
    }, (c) => readForm(c));
  const type = "application/x-www-form-urlencoded";
  const fields = await readFields("a=1&a=%C3%A9", `${type}; charset=UTF-8`);
  assertEquals(fields.getAll("a"), ["1", "é"]);
  for (
    const [other, encoding] of [
      ["text/plain", "identity"],
      [`${type}; charset=latin1`, "identity"],
      [`${type}\u00a0`, "identity"],
      [type, "gzip"],
    ] as const
  ) {
    const { code } = await refusal(readFields("a=1", other, encoding));
    assertEquals(code, "unsupported_media_type", other);
  }
  const error = await refusal(readFields(new Uint8Array([0xff]), type));
  assertEquals([error.code, error.message], [
    "invalid_request",
    "Cannot read body: it is not UTF-8",
  ]);
});
