import { assertEquals, assertStrictEquals } from "@std/assert";
import { Timepoint } from "./evaluation_time.ts";
import {
  type AskedQuestion,
  meets,
  ParsedQuestion,
  parseQuestion,
  parseRequirement,
  parseRequirements,
  REQUIREMENT_KEYS,
} from "./question.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { ALICE, day, upsert } from "../../tests/kit/events.ts";
import { replay } from "../replay/replay.ts";
import { RELATIONSHIP_TYPES } from "../event/types.ts";

const QUESTION: AskedQuestion = {
  subject: ALICE,
  require: ["relationship=employee", { role: "deploy" }],
  at: day(2),
  asOf: "007",
};

Deno.test("parses all parts of a question", () => {
  const { subject, requirements, at, asOf, explain } = parseQuestion(QUESTION);
  assertEquals(subject, ALICE);
  assertEquals(requirements, [
    { key: "relationship", value: "employee" },
    { key: "role", value: "deploy" },
  ]);
  assertEquals([at?.text, asOf, explain], [day(2), 7, false]);
});

Deno.test("returns parsed values unchanged", () => {
  const parsed = parseQuestion(QUESTION);
  assertStrictEquals(parseQuestion(parsed), parsed);
  const at = Timepoint.parse(day(3));
  assertStrictEquals(parseQuestion({ ...QUESTION, at }).at, at);
});

/** Parses a question as it may come from a program without types. */
function parseAny(question: unknown): ParsedQuestion {
  return parseQuestion(question as AskedQuestion);
}

Deno.test("rejects an object that only looks like a parsed value", () => {
  const { text, instant } = Timepoint.parse(day(3))!;
  const forged = { text, instant };
  for (const [name, time] of Object.entries({ at: forged, asOf: forged })) {
    assertSigError(
      () => parseAny({ ...QUESTION, [name]: time }),
      "invalid_request",
      `Cannot use ${name === "at" ? "at" : "as_of"} ${
        JSON.stringify({ text, instant })
      }: it must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z`,
    );
  }
  assertSigError(
    () => parseAny({ ...parseQuestion(QUESTION) }),
    "invalid_request",
    'Cannot check: there is no member "requirements"',
  );
});

Deno.test("refuses every unknown member, whatever its value, and names the nearest one", () => {
  const further = ["maxAgeMs", "minSequence"];
  const rows: readonly (readonly [string, string | undefined, string[]?])[] = [
    ["as_of", "asOf"],
    ["as-of", "asOf"],
    ["As_Of", "asOf"],
    ["subjects", "subject"],
    ["required", "require"],
    ["explian", "explain"],
    ["now", undefined],
    ["min_sequence", undefined],
    // Also the names in HTTP of members that the caller reads.
    ["min_sequence", "minSequence", further],
    ["max_age_seconds", "maxAgeMs", further],
    ["__proto__", undefined],
    ["a/b~c", undefined],
  ];
  for (const [name, meant, more] of rows) {
    for (const value of [1, undefined, null]) {
      const end = meant === undefined ? "" : `; did you mean "${meant}"?`;
      const question = Object.defineProperty({ ...QUESTION }, name, {
        value,
        enumerable: true,
      });
      const error = catchSigError(() => parseQuestion(question, more));
      assertEquals(error.code, "invalid_request");
      const place = `Cannot check: there is no member ${JSON.stringify(name)}`;
      assertEquals(error.message, place + end);
      const pointer = `/${name.replace("~", "~0").replace("/", "~1")}`;
      assertEquals(error.context.pointer, pointer);
    }
  }
  assertEquals(parseQuestion(QUESTION, ["now"]).subject, ALICE);
});

Deno.test("refuses a further member of a parsed question, unless the caller reads it", () => {
  const parsed = () =>
    Object.assign(parseQuestion(QUESTION), { minSequence: 9 });
  assertSigError(
    () => parseQuestion(parsed()),
    "invalid_request",
    'Cannot check: there is no member "minSequence"',
  );
  assertEquals(parseQuestion(parsed(), ["minSequence"]).subject, ALICE);
});

Deno.test("a missing or malformed part is a usage error", () => {
  const { require: _, ...noRequire } = QUESTION;
  const { subject: __, ...noSubject } = QUESTION;
  const list = "Cannot check: require must be a list";
  const subject =
    "Cannot check: the subject must be a string that is not empty";
  const rows: readonly (readonly [unknown, string, string, string])[] = [
    [null, "invalid_request", "Cannot check: a question must be an object", ""],
    ["x", "invalid_request", "Cannot check: a question must be an object", ""],
    [[], "invalid_request", "Cannot check: a question must be an object", ""],
    [
      noRequire,
      "invalid_request",
      "Cannot check: the member require is missing",
      "/require",
    ],
    [{ ...QUESTION, require: "role=a" }, "invalid_request", list, "/require"],
    [{ ...QUESTION, require: null }, "invalid_request", list, "/require"],
    [noSubject, "invalid_identifier", subject, "/subject"],
    [{ ...QUESTION, subject: 7 }, "invalid_identifier", subject, "/subject"],
    [
      { ...QUESTION, explain: "no" },
      "invalid_request",
      "Cannot check: explain must be true or false",
      "/explain",
    ],
  ];
  for (const [question, code, message, pointer] of rows) {
    const error = catchSigError(() => parseAny(question));
    assertEquals([error.code, error.message], [code, message]);
    assertEquals(error.category, "usage");
    assertEquals(error.context.pointer, pointer);
  }
});

Deno.test("reports the first fault in the order members, requirements, subject, as_of, at", () => {
  const wrong = { subject: "", require: ["nonsense"], at: "now", asOf: 0 };
  const cases = [
    [
      { subjekt: "x" },
      "invalid_request",
      'Cannot check: there is no member "subjekt"; did you mean "subject"?',
    ],
    [
      { require: [] },
      "requirements_empty",
      "Cannot check: at least one requirement is needed",
    ],
    [
      {},
      "invalid_requirement",
      'Cannot use requirement: "nonsense" must be key=value',
    ],
    [
      { require: ["role=a"] },
      "invalid_identifier",
      "Cannot check: the subject must not be empty",
    ],
    [
      { require: ["role=a"], subject: "x" },
      "invalid_request",
      "Cannot use as_of: a sequence must be an integer from 1 to 2^53-1",
    ],
    [
      { require: ["role=a"], subject: "x", asOf: 9 },
      "invalid_request",
      'Cannot use at "now": it must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z',
    ],
  ] as const;
  for (const [better, code, message] of cases) {
    assertSigError(() => parseAny({ ...wrong, ...better }), code, message);
  }
});

Deno.test("a question of parsed parts needs a subject and a requirement", () => {
  assertSigError(
    () => new ParsedQuestion({ subject: ALICE, requirements: [] }),
    "requirements_empty",
    "Cannot check: at least one requirement is needed",
  );
  const requirements = [{ key: "role", value: "deploy" }] as const;
  assertSigError(
    () => new ParsedQuestion({ subject: "", requirements }),
    "invalid_identifier",
    "Cannot check: the subject must not be empty",
  );
});

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
    ...["", "role", "=deploy", "role=", "Role=deploy", " role=deploy"],
    ...["toString=x", "__proto__=x", "relationship=boss"],
    ...["relationship=Employee", "relationship=toString"],
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

Deno.test("the message names the fault and escapes the input, and the hint the nearest word", () => {
  const example = "For example: relationship=employee, role=deploy.";
  const rows: readonly (readonly [unknown, string, string?])[] = [
    [
      "a\nb=c",
      `key "a\\nb" must be one of ${REQUIREMENT_KEYS.join(", ")}`,
    ],
    ["role=", "role must have a value"],
    ["deploy", '"deploy" must be key=value'],
    [{}, "it must be key=value, or an object with one member"],
    [
      "rol=deploy",
      `key "rol" must be one of ${REQUIREMENT_KEYS.join(", ")}`,
      "Did you mean role?",
    ],
    [
      "relationship=employe",
      `relationship "employe" must be one of ${RELATIONSHIP_TYPES.join(", ")}`,
      "Did you mean employee?",
    ],
  ];
  for (const [input, why, hint = example] of rows) {
    const error = catchSigError(() => parseRequirement(input));
    assertEquals(error.code, "invalid_requirement");
    assertEquals(error.message, `Cannot use requirement: ${why}`);
    assertEquals(error.context.hint, hint);
  }
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
