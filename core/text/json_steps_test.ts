import { assertEquals, assertThrows } from "@std/assert";
import { JsonError, parseJson, parseJsonSteps, runSteps } from "../mod.ts";

function attempt(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { fault, pointer, message } = error;
    return { fault, pointer, message };
  }
}

const LONG = "x".repeat(100);

Deno.test("a text read in steps is what it is in one go, faults as well", () => {
  const texts = [
    ...["", "1", '"a"', "[]", "{}", "[1,2", '{"a":1,"a":2}', '{"a"', '"a'],
    `"${LONG}"`,
    `{"a":"${LONG}","b":[{"c":"${LONG}\\n"},"${LONG}\\"",1]}`,
    `{"__proto__":{"a":"${LONG}"},"b":{"__proto__":"${LONG}"}}`,
    `{"a":"${LONG}\\ud800"}`,
    `{"a":["${LONG}\\ud83d\\ude00"]}`,
    `{"a":"${LONG}\\q"}`,
    `{"a":"${LONG}\\u12"}`,
    `{"a":"${LONG}\n"}`,
    `{"a":"${LONG}",}`,
    `{"a":"${LONG}`,
    `{"${LONG}":1,"${LONG}":2}`,
    `[9007199254740993,"${LONG}"]`,
    `["${LONG}"]]`,
    "[".repeat(17),
    `[${"0,".repeat(40)}0]`,
  ];
  const options = { maxValues: 32 };
  for (const text of texts) {
    assertEquals(
      attempt(() => runSteps(parseJsonSteps(text, options))),
      attempt(() => parseJson(text, options)),
      text,
    );
  }
});

Deno.test("escapes of long strings are whole wherever a step ends", () => {
  for (
    const unit of ["\\u00e9", "\\\\", '\\"', "\\ud83d\\ude00", "é", "a\\n"]
  ) {
    for (let shift = 0; shift < 12; shift++) {
      const text = `["${"x".repeat(shift)}${unit.repeat(20_000)}"]`;
      assertEquals(runSteps(parseJsonSteps(text)), JSON.parse(text));
    }
  }
});

Deno.test("no step of a long text goes through much of it", () => {
  const name = (i: number) => `"\\u0061${i}":0`;
  const texts = [
    `{"a":"${"\\u0061".repeat(100_000)}"}`,
    `{"a":"${"\\\\".repeat(100_000)}"}`,
    `[${" ".repeat(500_000)}]`,
    `{${Array.from({ length: 10_000 }, (_, i) => name(i)).join(",")}}`,
  ];
  for (const text of texts) {
    let steps = 0;
    for (const _ of parseJsonSteps(text)) steps++;
    assertEquals(steps > text.length / 20_000, true, `${steps} steps`);
  }
});

Deno.test("very long names and numbers are refused in steps", () => {
  const names = `{${
    Array.from({ length: 11 }, (_, i) => `"${i}${"x".repeat(100_000)}":0`)
  }}`;
  const error = assertThrows(
    () => runSteps(parseJsonSteps(names)),
    JsonError,
    "more than 1048576 characters of names",
  );
  assertEquals(error.fault, "values");
  assertThrows(
    () => runSteps(parseJsonSteps("1".repeat(2_000_000))),
    JsonError,
    "a number of more than 1024 characters",
  );
});
