/** A file of questions with the answers that are expected. @module */

import { isObject, quote, suggest } from "@sig/core/internal";
import { usageError } from "@sig/api/flags";
import { readYaml } from "../people/yaml.ts";

/** One question and its expected answer. */
export interface ExpectedDecision {
  /** Given, else made of the question. */
  readonly name: string;
  readonly subject: string;
  readonly require: readonly string[];
  readonly at?: string;
  readonly as_of?: string;
  readonly expect: "allow" | "deny";
  /** Codes of a deny, in any order; undefined where any will do. */
  readonly reasons?: readonly string[];
}

/** The file as it was understood. */
export interface ExpectedDecisions {
  readonly source?: string;
  readonly cases: readonly ExpectedDecision[];
}

const FILE_MEMBERS = ["source", "cases"];
const CASE_MEMBERS = [
  ...["name", "subject", "require", "at", "as_of", "expect", "reasons"],
];

/**
 * Reads `{source?, cases: [{name?, subject, require, at?, as_of?, expect,
 * reasons?}]}` (docs/reference/command-line.md), strictly: a misspelt member would be a case
 * that tests something else.
 *
 * @throws {SigError} `invalid_request` with the case that is at fault.
 */
export function parseExpectedDecisions(text: string): ExpectedDecisions {
  const file = readYaml(text, notCases);
  if (!isObject(file)) throw notCases("it must be an object with cases");
  requireKnown(file, FILE_MEMBERS, "the file");
  const { source, cases } = file;
  if (source !== undefined && typeof source !== "string") {
    throw notCases("source must be text");
  }
  if (!Array.isArray(cases) || cases.length === 0) {
    // Nothing tested must not pass for all is well.
    throw notCases("cases must be a list of at least one case");
  }
  return {
    ...(source === undefined ? {} : { source }),
    cases: cases.map(parseCase),
  };
}

function parseCase(value: unknown, index: number): ExpectedDecision {
  const place = `case ${index + 1}`;
  if (!isObject(value)) throw notCases(`${place} must be an object`);
  requireKnown(value, CASE_MEMBERS, place);
  const { name, subject, require, at, as_of, expect, reasons } = value;
  if (typeof subject !== "string" || subject === "") {
    throw notCases(`${place} must have a subject`);
  }
  if (!areTexts(require) || require.length === 0) {
    throw notCases(`${place} must have require, a list such as [role=deploy]`);
  }
  if (expect !== "allow" && expect !== "deny") {
    throw notCases(`${place} must expect allow or deny`);
  }
  if (name !== undefined && typeof name !== "string") {
    throw notCases(`${place}: name must be text`);
  }
  if (at !== undefined && typeof at !== "string") {
    throw notCases(`${place}: at must be a timestamp`);
  }
  if (
    as_of !== undefined && typeof as_of !== "string" &&
    typeof as_of !== "number"
  ) throw notCases(`${place}: as_of must be a sequence or a timestamp`);
  if (reasons !== undefined && !areTexts(reasons)) {
    throw notCases(`${place}: reasons must be a list of codes`);
  }
  if (reasons !== undefined && expect === "allow") {
    throw notCases(`${place}: an allow has no reasons`);
  }
  return {
    name: name ?? `${subject} ${require.join(" ")}`,
    subject,
    require,
    expect,
    ...(at === undefined ? {} : { at }),
    ...(as_of === undefined ? {} : { as_of: `${as_of}` }),
    ...(reasons === undefined ? {} : { reasons }),
  };
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) &&
    value.every((each) => typeof each === "string");
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
    `${place} has a member ${quote(unknown)}, which means nothing`,
    near === undefined
      ? `Members are ${known.join(", ")}.`
      : `Did you mean ${near}?`,
  );
}

function notCases(why: string, hint?: string) {
  return usageError(`cases can't be read: ${why}`, hint ? { hint } : {});
}
