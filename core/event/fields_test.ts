import { assertEquals, assertThrows } from "@std/assert";
import { issuesError } from "./fields.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";

Deno.test("a single fault has a pointer, several faults also a list", () => {
  const first = {
    pointer: "/a",
    code: "missing_field",
    detail: "is required",
  } as const;
  const second = { pointer: "/b", code: "invalid_field", detail: "x" } as const;
  const throwing = (issues: Parameters<typeof issuesError>[1]) => () => {
    throw issuesError("thing", issues);
  };
  const one = assertSigError(
    throwing([first]),
    "missing_field",
    "Cannot accept thing: /a is required",
  );
  assertEquals(one.context, { pointer: "/a" });
  const two = assertSigError(
    throwing([first, second]),
    "missing_field",
    "Cannot accept thing: /a is required (and 1 more)",
  );
  assertEquals(two.context, { pointer: "/a", errors: [first, second] });
  assertThrows(
    throwing([]),
    RangeError,
    "Cannot report no issue",
  );
});
