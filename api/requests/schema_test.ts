import { assertEquals } from "@std/assert";
import { isSigError } from "@sig/core";
import {
  anything,
  integer,
  list,
  object,
  readAs,
  type Schema,
  text,
} from "./mod.ts";

/** The faults of a value, as `pointer code detail`. */
function faultsOf(schema: Schema<unknown>, value: unknown): readonly string[] {
  try {
    readAs(schema, value);
    return [];
  } catch (error) {
    if (!isSigError(error, "invalid_request")) throw error;
    return error.context.errors?.map(({ pointer, code, detail }) =>
      `${pointer} ${code} ${detail}`
    ) ?? [];
  }
}

Deno.test("a member that is undefined is absent", () => {
  const schema = object<{ readonly a: string; readonly b?: string }>({
    members: { a: text(), b: text() },
    required: ["a"],
  });
  assertEquals(readAs(schema, { a: "x", b: undefined }), { a: "x" });
  assertEquals(faultsOf(schema, { a: undefined }), [
    "/a missing_field it is required",
  ]);
});

Deno.test("what an object inherits is not its member", () => {
  const schema = object<{ readonly toString?: unknown }>({
    members: { toString: anything() },
  });
  assertEquals(Object.keys(readAs(schema, {})), []);
});

Deno.test("unknown members are reported before the missing members", () => {
  const schema = object<{ readonly seats: number }>({
    members: { seats: integer(1, 9) },
    required: ["seats"],
  });
  assertEquals(faultsOf(schema, { seat: 3 }), [
    '/seat invalid_field there is no member "seat"; did you mean "seats"?',
    "/seats missing_field it is required",
  ]);
});

Deno.test("a text has at most so many characters, whatever its check says", () => {
  const schema = text({ maxLength: 3 }, () => undefined);
  assertEquals(faultsOf(schema, "abc"), []);
  assertEquals(faultsOf(schema, "abcd"), [
    " invalid_field it must have at most 3 characters",
  ]);
});

Deno.test("an item stands twice only where it may", () => {
  const rules = { item: text({ maxLength: 2 }), minItems: 0, maxItems: 9 };
  const twins = ["a", "long", "a", "long"];
  assertEquals(faultsOf(list(rules), twins), [
    "/1 invalid_field it must have at most 2 characters",
    "/3 invalid_field it must have at most 2 characters",
  ]);
  assertEquals(faultsOf(list({ ...rules, unique: true }), twins).slice(2), [
    "/2 invalid_field it must not stand twice",
  ]);
  assertEquals(list({ ...rules, unique: true }).json, {
    type: "array",
    items: { type: "string", maxLength: 2 },
    minItems: 0,
    maxItems: 9,
    uniqueItems: true,
  });
});
