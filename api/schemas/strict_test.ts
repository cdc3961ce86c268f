import { assertEquals } from "@std/assert";
import { isSigError, SigError } from "@sig/core";
import { z } from "zod";
import {
  eachOnce,
  integer,
  list,
  readAs,
  requires,
  strictObject,
} from "./mod.ts";

/** Returns the faults of a value, as `pointer code detail`. */
function faultsOf(schema: z.ZodType, value: unknown): readonly string[] {
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

Deno.test("unknown members are reported first, with a suggestion", () => {
  const schema = strictObject({ seats: integer(1, 9), any: z.unknown() }, [
    "places",
  ]);
  assertEquals(faultsOf(schema, { seat: 3, place: 1, "a\nb": 1 }), [
    '/seat invalid_field there is no member "seat"; did you mean "seats"?',
    '/place invalid_field there is no member "place"; did you mean "places"?',
    '/a\nb invalid_field there is no member "a\\nb"',
    "/seats missing_field it is required",
    "/any missing_field it is required",
  ]);
});

Deno.test("an integer may equal its bounds", () => {
  for (const value of [1, 9]) assertEquals(faultsOf(integer(1, 9), value), []);
});

Deno.test("the length of a list is checked before its items", () => {
  let looks = 0;
  const item = z.string().check(requires((value) => {
    looks++;
    return value === "good" ? undefined : "it must be another";
  }));
  const schema = list(item, 1, 2);
  const wrong = [" invalid_field it must have 1 to 2 items"];
  assertEquals(faultsOf(schema, ["a", "b", "c"]), wrong);
  assertEquals(faultsOf(schema, []), wrong);
  assertEquals(faultsOf(schema, {}), [" invalid_field it must be an array"]);
  assertEquals(looks, 0);
  assertEquals(faultsOf(schema, ["a", "b"]).length, 2);
  assertEquals(faultsOf(schema, ["good"]), []);
  const none = new SigError("requirements_empty", {
    action: "ask",
    reason: "none",
  });
  const request = strictObject({ all: list(item, 1, 2, none) });
  try {
    readAs(request, { all: [] }, "/checks/3");
  } catch (error) {
    if (!isSigError(error, "requirements_empty")) throw error;
    assertEquals(error.context.pointer, "/checks/3/all");
    looks++;
  }
  assertEquals(looks, 4);
});

Deno.test("an item of a list of unique items must not be repeated", () => {
  const schema = list(z.string().max(2), 0, 9);
  const twins = ["a", "bc", "a", "bc"];
  assertEquals(faultsOf(schema, twins), []);
  assertEquals(faultsOf(schema.check(eachOnce), twins), [
    "/2 invalid_field it is a duplicate",
    "/3 invalid_field it is a duplicate",
  ]);
  assertEquals(faultsOf(schema, ["long"]), [
    "/0 invalid_field it must have at most 2 characters",
  ]);
});
