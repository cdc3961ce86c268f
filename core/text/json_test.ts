import { assert, assertEquals } from "@std/assert";
import {
  JsonError,
  type JsonFault,
  parseJson,
  type ParseJsonOptions,
  parseJsonWithSpelling,
} from "./json.ts";

// promise: JSON has one meaning: no duplicate member, invalid UTF-8 or
//   ambiguous number.

function faultOf(
  input: string | Uint8Array,
  options?: ParseJsonOptions,
): Pick<JsonError, "fault" | "pointer" | "message"> | undefined {
  try {
    parseJson(input, options);
    return undefined;
  } catch (error) {
    assert(error instanceof JsonError, String(error));
    const { fault, pointer, message } = error;
    return { fault, pointer, message };
  }
}

Deno.test("a member name occurs once in an object, in any spelling", () => {
  const twice: readonly (readonly [string, string])[] = [
    ['{"a":1,"a":1}', "/a"],
    ['{"a":1,"\\u0061":2}', "/a"],
    ['{"\\u0061":1,"a":2}', "/a"],
    ['{"\\/":1,"/":2}', "/~1"],
    ['{"~":1,"\\u007e":2}', "/~0"],
    ['{"":1,"" :2}', "/"],
    ['{"a" :1,"a"\n:2}', "/a"],
    ['{"b":{"a":1,"c":[{"x":1,"x":2}]}}', "/b/c/0/x"],
    ['[0,[1,{"a":1,"a":2}]]', "/1/1/a"],
    ['{"__proto__":1,"__proto__":2}', "/__proto__"],
    ['{"__proto__":1,"\\u005f_proto__":2}', "/__proto__"],
    ['{"constructor":1,"constructor":1}', "/constructor"],
    ['{"a\\"":1,"a\\"":2}', '/a"'],
    ['{"a\\\\":1,"a\\\\":2}', "/a\\"],
    ['{"\\\\\\"":1,"\\\\\\"":2}', '/\\"'],
    ['{"":"","":""}', "/"],
    ['{"\\ud83d\\ude00":1,"😀":2}', "/😀"],
  ];
  for (const [text, pointer] of twice) {
    assertEquals(
      faultOf(text),
      { fault: "duplicate", pointer, message: "a member occurs twice" },
      text,
    );
  }
  const once = [
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '{"a":"a","b":"a"}',
    '{"a":["a","a"]}',
    '{"é":1,"e\\u0301":2}',
    '{"a":1,"A":2,"a ":3}',
  ];
  for (const text of once) assertEquals(faultOf(text), undefined, text);
});

Deno.test("finds a duplicate name in a large object", () => {
  for (const size of [31, 32, 33, 34, 5_000]) {
    const names = Array.from({ length: size }, (_, i) => `"n${i}":${i}`);
    assertEquals(faultOf(`{${names.join(",")}}`), undefined);
    for (const double of [0, size - 1]) {
      const text = `{${names.join(",")},"n${double}":0}`;
      assertEquals(faultOf(text)?.fault, "duplicate", `${size}, ${double}`);
    }
  }
});

Deno.test("accepts 16 levels and rejects 17", () => {
  const nest = (open: string, close: string, depth: number) =>
    open.repeat(depth) + close.repeat(depth);
  assertEquals(faultOf(nest("[", "]", 16)), undefined);
  assertEquals(faultOf(`${'{"a":'.repeat(16)}1${"}".repeat(16)}`), undefined);
  const tooDeep = "more than 16 levels";
  assertEquals(faultOf(nest("[", "]", 17))?.message, tooDeep);
  assertEquals(
    faultOf(`${'{"a":'.repeat(17)}1${"}".repeat(17)}`)?.message,
    tooDeep,
  );
  assertEquals(faultOf("[".repeat(1_000_000))?.fault, "depth");
  assertEquals(faultOf(`["${"[".repeat(50)}"]`), undefined);
  assertEquals(parseJson("[[1]]", { maxDepth: 2 }), [[1]]);
});

Deno.test("rejects overflowing numbers and unsafe integers, with their place", () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ["9007199254740991", undefined],
    ["-9007199254740991", undefined],
    ["9007199254740992", "an integer is outside ±(2^53-1)"],
    ["-9007199254740992", "an integer is outside ±(2^53-1)"],
    ["9007199254740993", "an integer is outside ±(2^53-1)"],
    ["1" + "0".repeat(400), "an integer is outside ±(2^53-1)"],
    ["123456789012345", undefined],
    ["1e308", undefined],
    ["1e309", "a number is too large"],
    ["-1e309", "a number is too large"],
    ["1e-400", undefined],
    ["9007199254740993.0", undefined],
    ["-0", undefined],
    ["-0.0", undefined],
    ["0e0", undefined],
  ];
  for (const [number, message] of table) {
    assertEquals(faultOf(`{"a":[0,${number}]}`)?.message, message, number);
    if (message !== undefined) {
      assertEquals(faultOf(`{"a":[0,${number}]}`)?.pointer, "/a/1", number);
    }
  }
});

Deno.test("rejects numbers that are not written in digits only on request", () => {
  const options = { digitsOnly: true };
  for (const number of ["1.0", "1e0", "1E2", "-1", "-0"]) {
    assertEquals(faultOf(`{"a":[${number}]}`), undefined);
    assertEquals(faultOf(`{"a":[${number}]}`, options), {
      fault: "number",
      pointer: "/a/0",
      message: "a number is not written in digits only",
    });
  }
  assertEquals(faultOf('{"a":["1.0",12],"b":"-1e5"}', options), undefined);
});

Deno.test("rejects lone surrogates, escaped or not", () => {
  const table: readonly (readonly [string, JsonFault | undefined])[] = [
    ['"\\ud800"', "string"],
    ['"\\udc00"', "string"],
    ['"\\ude00\\ud83d"', "string"],
    ['{"\\ud800":1}', "string"],
    ['"\\ud83d\\ude00"', undefined],
    ['"\\uD83D\\uDE00\\ud7ff\\ue000"', undefined],
    ['"\\ud83d\\ud83d\\ude00"', "string"],
    ['"\\ud83da\\ude00"', "string"],
    ['"\\ud83d\\\\ude00"', "string"],
    ['"\\\\ud800"', undefined],
    ['"\\\\\\ud800"', "string"],
    ['"\ud800"', "utf8"],
  ];
  for (const [text, fault] of table) {
    assertEquals(faultOf(text)?.fault, fault, text);
  }
});

Deno.test("rejects bytes that are not UTF-8, or begin with a BOM", () => {
  const cases: readonly (readonly [number[], JsonFault])[] = [
    [[0xef, 0xbb, 0xbf, 0x31], "syntax"],
    [[0x22, 0xff, 0x22], "utf8"],
    [[0x22, 0xc0, 0xaf, 0x22], "utf8"],
    [[0x22, 0xed, 0xa0, 0x80, 0x22], "utf8"],
    [[0x22, 0xe2, 0x82, 0x22], "utf8"],
    [[0x31, 0x00], "syntax"],
    [[], "syntax"],
  ];
  for (const [bytes, fault] of cases) {
    assertEquals(faultOf(new Uint8Array(bytes))?.fault, fault, String(bytes));
  }
  assertEquals(faultOf("\ufeff1")?.fault, "syntax");
});

Deno.test("a syntax error contains the position, and never quotes the text", () => {
  const secret = "hunter2 in JSON at position 99 (line 1 column 1)";
  for (const text of [secret, `{"a":"${secret}"`, `{"${secret}"}`, "[1 2]"]) {
    const found = faultOf(text);
    assertEquals(found?.fault, "syntax", text);
    assert(!found?.message.includes("hunter2"), found?.message);
    assert(!found?.message.includes("99"), found?.message);
  }
  assertEquals(faultOf("[1 2]")?.message, "syntax error at character 3");
});

Deno.test("lists the root's numbers with a sign, point or exponent", () => {
  const table: readonly (readonly [string, string[]])[] = [
    ['{"a":1,"b":1.0,"c":1e0,"d":-1,"e":0,"f":"1.0"}', ["b", "c", "d"]],
    ['{"\\u0061":1.0}', ["a"]],
    ['{"a/b~c":1.5}', ["a/b~c"]],
    ['{"a":[1.0],"b":{"c":1.0}}', []],
    ['{"a":{"c":1.0},"b":2.0}', ["b"]],
    ['{"a":0.0,"b":0e0,"c":0}', ["a", "b"]],
    ["[1.0]", []],
    ["1.0", []],
  ];
  for (const [text, decimals] of table) {
    assertEquals([...parseJsonWithSpelling(text).decimals], decimals, text);
  }
});

Deno.test("pointers have a maximum length, so that a text can't cause a larger answer", () => {
  const long = "n".repeat(10_000);
  const inLong = faultOf(`{"a":{"${long}":{"x":1,"x":2}}}`);
  assertEquals(inLong?.pointer, "/a");
});

Deno.test("an error states whether the text is an object otherwise", () => {
  const inObject = (text: string) => {
    try {
      parseJson(text);
    } catch (error) {
      if (error instanceof JsonError) return error.inObject;
    }
    throw new Error("must be refused");
  };
  assertEquals(inObject(' {"a":1e999}'), true);
  assertEquals(inObject("1e999"), false);
  assertEquals(inObject('[{"a":1e999}]'), false);
  assertEquals(inObject("{"), false);
});

Deno.test("finds a duplicate name even if a program polluted the prototype", () => {
  Object.defineProperty(Object.prototype, "polluted", {
    value: 1,
    enumerable: true,
    configurable: true,
  });
  try {
    assertEquals(faultOf('{"a":1,"a":2}')?.fault, "duplicate");
    assertEquals(faultOf('{"a":{"b":1,"b":2},"c":{}}')?.fault, "duplicate");
    assertEquals(faultOf('{"a":1,"b":2}'), undefined);
  } finally {
    Reflect.deleteProperty(Object.prototype, "polluted");
  }
});

Deno.test("the fast check and the scan agree", () => {
  // A backslash anywhere makes the scan necessary.
  const texts = [
    '{"a":1,"b":[{"a":1},{"a":2}],"c":{"a":1}}',
    '{"a":1,"b":[{"a":1,"a":2}]}',
    '{"a":":","b:":"{"}',
    '{"a":true,"b":false,"c":null,"d":[],"e":{}}',
    '{"a":123456789012345,"b":"1234567890123456"}',
    '{"a":9007199254740993}',
    "[1e5]",
    "[1E5]",
    "[1e]",
    "[]]",
    '{"a"}',
    '{"a"::1}',
    '["a":1]',
    "[1,]",
  ];
  for (const text of texts) {
    const long = `["\\n",${text}]`;
    const [short, closer] = [faultOf(text), faultOf(long)];
    assertEquals(short?.fault, closer?.fault, text);
    if (short === undefined) {
      assertEquals(parseJson(long), ["\n", parseJson(text)]);
    }
  }
});

Deno.test("accepts the maximum number of values, and builds nothing of a longer text", () => {
  const texts: readonly (readonly [string, number])[] = [
    ["[1,2,3]", 4],
    ['{"a":1,"b":[],"c":"[,,{"}', 5],
    ['{"\\u0061":1,"b":"\\",,,"}', 3],
    ['[1.5,-1,{"a":"x,y"}]', 5],
  ];
  for (const [text, values] of texts) {
    assertEquals(parseJson(text, { maxValues: values }), JSON.parse(text));
    assertEquals(
      faultOf(text, { maxValues: values - 1 })?.message,
      `more than ${values - 1} values`,
      text,
    );
  }
  // The rest of the text is not read, so other faults do not matter.
  const many = `${"[],".repeat(1_000)}`;
  for (const start of ["[", '["\\n",', "[-1,", '[{"a":1,"a":1},']) {
    for (const end of ["]", "", "x", "[".repeat(20)]) {
      const fault = faultOf(`${start}${many}${end}`, { maxValues: 100 });
      assertEquals(fault?.fault, "values", start + end);
      assertEquals(fault?.message, "more than 100 values");
    }
  }
  const deepFirst = `[{"a":1,"a":1},${"[".repeat(17)}${
    "]".repeat(17)
  },${many}1]`;
  assertEquals(faultOf(deepFirst, { maxValues: 100 })?.fault, "depth");
  assertEquals(faultOf(`[${many}1]`), undefined);
});
