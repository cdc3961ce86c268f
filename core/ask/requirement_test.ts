import { assertEquals, assertStrictEquals } from "@std/assert";
import { replay } from "../replay/replay.ts";
import { type AskedQuestion, parseQuestion } from "./question.ts";
import {
  meets,
  parseRequirement,
  parseRequirements,
  REQUIREMENT_KEYS,
} from "./requirement.ts";
import { RELATIONSHIP_TYPES } from "../event/types.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { ALICE, upsert } from "../../tests/kit/events.ts";

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

Deno.test("requirements of a configuration are checked, and returned as they are", () => {
  const texts: string[] = ["relationship=employee", "role=deploy"];
  assertStrictEquals<unknown>(parseRequirements(texts), texts);
  assertSigError(
    () => parseRequirements([]),
    "requirements_empty",
    "Cannot check: at least one requirement is needed",
  );
  assertSigError(
    () => parseRequirements(["role=deploy", "relationship=boss"]),
    "invalid_requirement",
    'Cannot use requirement: relationship "boss" must be one of employee, founder, contractor, advisor, investor, admin_delegate, other',
  );
});

Deno.test("types refuse an unknown key, an unknown type, two members, and an empty list", () => {
  const subject = ALICE;
  const asked: readonly AskedQuestion[] = [
    { subject, require: ["role=a", { relationship: "employee" }] },
    // @ts-expect-error: at least one requirement
    { subject, require: [] },
    // @ts-expect-error: an unknown key
    { subject, require: ["team=a"] },
    // @ts-expect-error: an unknown relationship type
    { subject, require: ["relationship=boss"] },
    // @ts-expect-error: an unknown relationship type
    { subject, require: [{ relationship: "boss" }] },
    // @ts-expect-error: two members
    { subject, require: [{ role: "a", relationship_id: "b" }] },
    // @ts-expect-error: an unknown member
    { subject, require: ["role=a"], as_of: 3 },
  ];
  const [right, ...wrong] = asked;
  assertEquals(parseQuestion(right!).requirements.length, 2);
  for (const question of wrong) catchSigError(() => parseQuestion(question));
});
