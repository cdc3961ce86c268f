import { assert, assertEquals, assertThrows } from "@std/assert";
import { validateEvent } from "./event.ts";
import { validateMetadata } from "./metadata.ts";
import { createValidator, issuesError } from "./validator.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { upsert } from "../../tests/kit/events.ts";

Deno.test("a validator is a Standard Schema v1", () => {
  for (const validator of [validateEvent, validateMetadata]) {
    const props = validator["~standard"];
    assertEquals([props.version, props.vendor], [1, "sig"]);
    assertEquals(typeof props.validate, "function");
    assert(Object.isFrozen(props));
  }
});

Deno.test("~standard returns a valid value unchanged, without issues", () => {
  const event = upsert(1);
  const result = validateEvent["~standard"].validate(event);
  assert(!result.issues);
  assert(result.value === event);
});

Deno.test("~standard returns issues with paths for an invalid value, and does not throw", () => {
  const { validate } = validateEvent["~standard"];
  assertEquals(validate({ ...upsert(1), display: { title: 1 } }), {
    issues: [{
      message: "must be a string (invalid_field)",
      path: ["display", "title"],
    }],
  });
  assertEquals(validate(null), {
    issues: [{
      message: "the payload must be one JSON object (invalid_envelope)",
      path: [],
    }],
  });
});

Deno.test("JSON pointers become unescaped paths", () => {
  const validator = createValidator<unknown, never>("x", () => [
    { pointer: "/a~1b/~0~1/~01", code: "invalid_field", detail: "is wrong" },
  ]);
  assertEquals(validator["~standard"].validate(1), {
    issues: [{
      message: "is wrong (invalid_field)",
      path: ["a/b", "~/", "~1"],
    }],
  });
});

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
