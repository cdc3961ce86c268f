import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { Timepoint } from "./evaluation_time.ts";
import {
  type AskedQuestion,
  ParsedQuestion,
  parseQuestion,
} from "./question.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { ALICE, day } from "../../tests/kit/events.ts";

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

Deno.test("rejects an object that only looks like a parsed value", () => {
  const { text, instant } = Timepoint.parse(day(3))!;
  const forged = { text, instant } as unknown as Timepoint;
  for (const [name, time] of Object.entries({ at: forged, asOf: forged })) {
    assertSigError(
      () => parseQuestion({ ...QUESTION, [name]: time }),
      "invalid_request",
      `Cannot judge ${name === "at" ? "at" : "as_of"} ${
        JSON.stringify({ text, instant })
      }: it must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z`,
    );
  }
  const copy = { ...parseQuestion(QUESTION) } as unknown as ParsedQuestion;
  assertThrows(() => parseQuestion(copy), TypeError);
});

Deno.test("reports the first fault in the order requirements, subject, as_of, at", () => {
  const wrong: AskedQuestion = {
    subject: "",
    require: ["nonsense"],
    at: "now",
    asOf: 0,
  };
  const cases = [
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
      "Cannot judge as_of: a sequence must be an integer from 1 to 2^53-1",
    ],
    [
      { require: ["role=a"], subject: "x", asOf: 9 },
      "invalid_request",
      'Cannot judge at "now": it must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z',
    ],
  ] as const;
  for (const [better, code, message] of cases) {
    assertSigError(
      () => parseQuestion({ ...wrong, ...better }),
      code,
      message,
    );
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
