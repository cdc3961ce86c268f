/** Decision test cases: questions with their expected answers. @module */

import { isObject, quote, suggest } from "@sig/core/internal";
import { parseYaml, usageError } from "@sig/api/program";
import { isSshKey, jwkToDidKey, sshKeyToJwk } from "@sig/jose/keys";

/** One question and its expected answer. */
export interface ExpectedDecision {
  /** Name from the file (default: subject and requirements). */
  readonly name: string;
  readonly subject: string;
  readonly require: readonly string[];
  readonly at?: string;
  readonly as_of?: string;
  readonly expect: "allow" | "deny";
  /** Expected codes of a deny, in any order; undefined accepts any. */
  readonly reasons?: readonly string[];
}

const FILE_MEMBERS = ["source", "cases"];

const isText = (value: unknown) => typeof value === "string";
const areTexts = (value: unknown) =>
  Array.isArray(value) && value.every(isText);

/** The members of a case, each with its test and its error message. */
const CASE_MEMBERS: {
  readonly [name: string]: readonly [(value: unknown) => boolean, string];
} = {
  subject: [
    (value) => isText(value) && value !== "",
    "must have a subject",
  ],
  require: [
    (value) => areTexts(value) && (value as unknown[]).length > 0,
    "must have require, a list such as [role=deploy]",
  ],
  expect: [
    (value) => value === "allow" || value === "deny",
    "must expect allow or deny",
  ],
  name: [isText, "name must be text"],
  at: [isText, "at must be a timestamp"],
  as_of: [
    (value) => isText(value) || typeof value === "number",
    "as_of must be a sequence or a timestamp",
  ],
  reasons: [areTexts, "reasons must be a list of codes"],
};
const REQUIRED = ["subject", "require", "expect"];

/**
 * Parses `{source?, cases: [{name?, subject, require, at?, as_of?, expect,
 * reasons?}]}` (docs/reference/command-line.md). Rejects unknown members: a
 * case with a misspelt member would test something else.
 *
 * @throws {SigError} `invalid_request`, which names the wrong case.
 */
export async function parseExpectedDecisions(text: string) {
  const file = await parseYaml(text, (why) => notCases(`it ${why}`));
  if (!isObject(file)) throw notCases("it must be an object with cases");
  requireKnown(file, FILE_MEMBERS, "the file");
  const { source, cases } = file;
  if (source !== undefined && typeof source !== "string") {
    throw notCases("source must be text");
  }
  if (!Array.isArray(cases) || cases.length === 0) {
    // A file without cases must not count as a success.
    throw notCases("cases must be a list of at least one case");
  }
  return { source, cases: cases.map(parseCase) };
}

function parseCase(value: unknown, index: number): ExpectedDecision {
  const place = `case ${index + 1}`;
  if (!isObject(value)) throw notCases(`${place} must be an object`);
  requireKnown(value, Object.keys(CASE_MEMBERS), place);
  for (const [name, [isValid, what]] of Object.entries(CASE_MEMBERS)) {
    const isRequired = REQUIRED.includes(name);
    if (!isRequired && value[name] === undefined) continue;
    if (isValid(value[name])) continue;
    throw notCases(`${place}${isRequired ? "" : ":"} ${what}`);
  }
  const parsed = value as unknown as ExpectedDecision;
  const { as_of, expect, name, reasons, require, subject } = parsed;
  if (reasons !== undefined && expect === "allow") {
    throw notCases(`${place}: an allow has no reasons`);
  }
  return {
    ...parsed,
    name: name ?? `${subject} ${require.join(" ")}`,
    subject: isSshKey(subject) ? jwkToDidKey(sshKeyToJwk(subject)) : subject,
    ...(as_of === undefined ? {} : { as_of: `${as_of}` }),
  };
}

function requireKnown(
  value: { readonly [name: string]: unknown },
  known: readonly string[],
  place: string,
): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = suggest(unknown, known);
  throw notCases(
    `${place} has the unknown member ${quote(unknown)}`,
    near === undefined
      ? `Members are ${known.join(", ")}.`
      : `Did you mean ${near}?`,
  );
}

function notCases(why: string, hint?: string) {
  return usageError(`cases can't be read: ${why}`, hint ? { hint } : {});
}
