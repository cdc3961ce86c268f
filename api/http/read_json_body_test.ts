import { assert, assertEquals } from "@std/assert";
import { isSigError, type SigError } from "@sig/core";
import { readJsonBody } from "./read_json_body.ts";

async function read(
  body: BodyInit,
  headers: HeadersInit = { "content-type": "application/json" },
): Promise<unknown> {
  return await readJsonBody(
    new Request("http://127.0.0.1/", { method: "POST", headers, body }),
    {
      maxBytes: 200_000,
      timeoutMs: 60_000,
      reserve() {},
      awaitBody: () => () => {},
    },
  );
}

async function refusal(reading: Promise<unknown>): Promise<SigError> {
  const error = await reading.then((value) => value, (error) => error);
  assert(isSigError(error), `not refused: ${JSON.stringify(error)}`);
  return error;
}

Deno.test("JSON in UTF-8 is read, however its type is spelled", async () => {
  for (
    const type of [
      ...[
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
      ],
      ...[
        'application/json; charset="UTF-8"',
        "application/json ; charset=utf-8",
        "application/json; profile=x; charset=utf-8",
        'application/json;a="b;\\"c";',
      ],
    ]
  ) {
    assertEquals(await read('{"a":[1]}', { "content-type": type }), { a: [1] });
  }
});

Deno.test("another type is refused, so that no form or script can ask", async () => {
  for (
    const type of [
      ...[
        "",
        "text/plain",
        "text/json",
        "application/jsonp",
        "application/json2",
      ],
      ...["application/problem+json", "application/x-www-form-urlencoded"],
      ...[
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
      ],
      ...["application/json; charset=latin1", "application/json; boundary"],
      ...[
        "application/json; a=b c",
        'application/json; a="b',
        "application/json x",
      ],
      'application/json; charset="utf-16"',
      ...['application/json; charset="utf-8', "application/json, text/plain"],
      "application/json; charset=utf-8; charset=utf-16",
    ]
  ) {
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

Deno.test("a long type is refused as fast as a short one", async () => {
  for (const gap of [" ;", ";", '; a=""', " ".repeat(50) + ";"]) {
    const type = `application/json${gap.repeat(2_000)}@`;
    const { code } = await refusal(read("{}", { "content-type": type }));
    assertEquals(code, "unsupported_media_type");
  }
});

Deno.test("a compressed body is refused", async () => {
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

Deno.test("what JSON.parse lets through or quotes is refused without quoting", async () => {
  const bytes = (...codes: number[]) => new Uint8Array(codes);
  const rows: readonly (readonly [BodyInit, string, string | undefined])[] = [
    ["", "syntax error", undefined],
    ["secret", "syntax error", undefined],
    ['{"a":1,}', "syntax error", undefined],
    ['{"a":1}{"b":2}', "syntax error", undefined],
    ['{"a":1,"\\u0061":2}', "a member stands twice", "/a"],
    ['{"a":{"b":1,"b":2}}', "a member stands twice", "/a/b"],
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

Deno.test("50,000 values are read, one more is refused with the limit", async () => {
  const zeros = (n: number) => `[${Array(n).fill(0).join(",")}]`;
  const limits = {
    maxBytes: 1_000_000,
    timeoutMs: 60_000,
    reserve() {},
    awaitBody: () => () => {},
  };
  const ask = (body: string) =>
    readJsonBody(
      new Request("http://127.0.0.1/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      }),
      limits,
    );
  assertEquals((await ask(zeros(49_999)) as unknown[]).length, 49_999);
  const error = await refusal(ask(zeros(50_000)));
  assertEquals(
    [error.code, error.message, error.context.limit],
    ["invalid_json", "Cannot read body: more than 50000 values", 50_000],
  );
});

Deno.test("a large body is parsed in slices once it is there, a small one at once", async () => {
  const rows = [["{}", 0], [
    `{"a":"${"\\u0061".repeat(200_000)}"}`,
    3,
  ]] as const;
  for (const [body, expected] of rows) {
    let breaths = 0;
    const request = new Request("http://127.0.0.1/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const limits = {
      maxBytes: 2_000_000,
      timeoutMs: 60_000,
      reserve() {},
      awaitBody: () => () => {},
    };
    const value = await readJsonBody(request, limits, () => {
      // What is left of the body would not be read meanwhile.
      assertEquals(request.bodyUsed, true);
      breaths++;
      return Promise.resolve();
    });
    assertEquals(value, JSON.parse(body));
    assertEquals(breaths >= expected, true, `${breaths} breaths`);
  }
});
