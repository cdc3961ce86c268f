import { assertEquals } from "@std/assert";
import { replay } from "../replay/replay.ts";
import { meets, parseRequirement, REQUIREMENT_KEYS } from "./requirement.ts";
import { RELATIONSHIP_TYPES } from "../event/types.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { upsert } from "../../tests/kit/events.ts";

Deno.test("accepts key=value, or an object with one member", () => {
  const table: readonly (readonly [unknown, string, string])[] = [
    ["relationship=employee", "relationship", "employee"],
    [{ relationship: "founder" }, "relationship", "founder"],
    ["role=a=b", "role", "a=b"],
    ["role= x ", "role", " x "],
    [{ role: "__proto__" }, "role", "__proto__"],
    ["relationship_id=r1", "relationship_id", "r1"],
    [{ relationship_id: "=" }, "relationship_id", "="],
  ];
  for (const [input, key, value] of table) {
    assertEquals(parseRequirement(input) as unknown, { key, value });
  }
  for (const type of RELATIONSHIP_TYPES) {
    assertEquals(parseRequirement(`relationship=${type}`).value, type);
  }
  assertEquals(REQUIREMENT_KEYS, ["relationship", "role", "relationship_id"]);
});

Deno.test("rejects any other form with invalid_requirement", () => {
  const inputs = [
    "",
    "role",
    "=deploy",
    "role=",
    "Role=deploy",
    " role=deploy",
    "toString=x",
    "__proto__=x",
    "relationship=boss",
    "relationship=Employee",
    "relationship=toString",
    null,
    undefined,
    1,
    [],
    ["role=deploy"],
    {},
    { role: "a", relationship: "employee" },
    { role: 1 },
    { role: null },
    { role: ["deploy"] },
    JSON.parse('{"__proto__":"x"}'),
  ];
  for (const input of inputs) {
    assertEquals(
      catchSigError(() => parseRequirement(input)).code,
      "invalid_requirement",
      Deno.inspect(input),
    );
  }
});

Deno.test("suggests the nearest key or type for a misspelled one", () => {
  const hintOf = (input: unknown) => {
    const error = catchSigError(() => parseRequirement(input));
    assertEquals(error.code, "invalid_requirement");
    return error.context.hint;
  };
  assertEquals(hintOf("rol=deploy"), "Did you mean role?");
  assertEquals(hintOf("relationship=employe"), "Did you mean employee?");
  assertEquals(
    hintOf("team=payments"),
    "For example: relationship=employee, role=deploy.",
  );
});

Deno.test("the message names the fault and escapes the input", () => {
  assertSigError(
    () => parseRequirement("a\nb=c"),
    "invalid_requirement",
    'Cannot use requirement: key "a\\nb" must be one of relationship, role, relationship_id',
  );
  assertSigError(
    () => parseRequirement("role="),
    "invalid_requirement",
    "Cannot use requirement: role must have a value",
  );
  assertSigError(
    () => parseRequirement("deploy"),
    "invalid_requirement",
    'Cannot use requirement: "deploy" must be key=value',
  );
  assertSigError(
    () => parseRequirement({}),
    "invalid_requirement",
    "Cannot use requirement: it must be key=value, or an object with one member",
  );
});

Deno.test("requirements are compared exactly", () => {
  const { state } = replay([upsert(1, { roles: ["deploy", "x"] })]);
  const r1 = state.by_relationship_id.get("r1")!;
  const table: readonly (readonly [string, boolean])[] = [
    ["relationship=employee", true],
    ["relationship=founder", false],
    ["role=deploy", true],
    ["role=x", true],
    ["role=Deploy", false],
    ["role=deploy ", false],
    ["role=deploy,x", false],
    ["relationship_id=r1", true],
    ["relationship_id=r", false],
  ];
  for (const [text, expected] of table) {
    assertEquals(meets(r1, parseRequirement(text)), expected, text);
  }
});
