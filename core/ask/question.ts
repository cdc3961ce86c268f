/** Parsing of questions (docs/protocol.md §5). @module */

import { SigError } from "../errors/error.ts";
import {
  type AskedTime,
  type ParsedTime,
  parseTime,
  type TimeQuestion,
} from "./evaluation_time.ts";
import {
  type AskedRequirements,
  parseRequirement,
  requireList,
  type Requirement,
  requireSome,
} from "./requirement.ts";
import { isObject } from "../event/fields.ts";
import { quote } from "../text/escape_invisible.ts";
import { escapePointer } from "../text/json.ts";
import { suggest } from "../text/suggest.ts";

/** A question about a subject, before parsing. */
export interface AskedQuestion extends AskedTime {
  /** The subject: a non-empty string, usually a DID; compared exactly. */
  readonly subject: string;
  /**
   * The requirements, at least one. Those of a configuration, whose types are
   * not known, go through {@linkcode parseRequirements}.
   */
  readonly require: AskedRequirements;
  /** Whether to explain the evaluation (default: false). */
  readonly explain?: boolean | undefined;
}

/** A question about a subject, with a clock time. */
export interface Question extends AskedQuestion, TimeQuestion {}

/** The parsed parts of a question. */
export interface QuestionParts extends Partial<ParsedTime> {
  /** The subject: a non-empty string; compared exactly. */
  readonly subject: string;
  /** The requirements, at least one. */
  readonly requirements: readonly Requirement[];
  /** Whether to explain the evaluation (default: false). */
  readonly explain?: boolean | undefined;
}

/**
 * A parsed question, valid for any feed. It is a class, so that an unparsed
 * value is never mistaken for it.
 */
export class ParsedQuestion implements ParsedTime {
  /** The subject. */
  readonly subject: string;
  /** The requirements, all of which one relationship must meet; never empty. */
  readonly requirements: readonly Requirement[];
  /** Asks what was true at this time. */
  readonly at: ParsedTime["at"];
  /** Asks what was known then: a sequence number, or a time. */
  readonly asOf: ParsedTime["asOf"];
  /** Whether to explain how each relationship was evaluated. */
  readonly explain: boolean;

  /**
   * Creates a question from parsed parts.
   *
   * @throws {SigError} `requirements_empty`, `invalid_identifier` for an empty
   * subject.
   */
  constructor({ subject, requirements, at, asOf, explain }: QuestionParts) {
    this.requirements = requireSome(requirements);
    this.subject = requireSubject(subject);
    this.at = at;
    this.asOf = asOf;
    this.explain = explain ?? false;
  }
}

/** The members of an unparsed question. */
const ASKED = ["subject", "require", "at", "asOf", "explain"] as const;
/** The members of a parsed question. */
const PARSED = ["subject", "requirements", "at", "asOf", "explain"] as const;

/**
 * Parses a question. This needs no feed. A parsed question is returned
 * unchanged.
 *
 * @example Reject a malformed question before anything is fetched
 * ```ts
 * import { parseQuestion, SigError } from "@sig/core";
 * import { assertThrows } from "@std/assert";
 *
 * const question = {
 *   subject: "did:web:alice.example",
 *   require: ["role=deploy"],
 *   as_of: 3,
 * } as const;
 * assertThrows(
 *   () => parseQuestion(question),
 *   SigError,
 *   'there is no member "as_of"; did you mean "asOf"?',
 * );
 * ```
 *
 * @param further Names of further members that the caller reads itself.
 * @throws {SigError} `invalid_request` for an unknown member, a question that
 * is not an object, or a missing list of requirements; `requirements_empty`,
 * `invalid_requirement`, `invalid_identifier` for a subject that is not a
 * non-empty string; `invalid_request` for a malformed time or `explain`: in
 * this order, the first of them.
 */
export function parseQuestion(
  question: AskedQuestion | ParsedQuestion,
  further: readonly string[] = [],
): ParsedQuestion {
  if (question instanceof ParsedQuestion) {
    requireKnownMembers(question, PARSED, further);
    return question;
  }
  if (!isObject(question)) {
    throw invalid("", "a question must be an object");
  }
  requireKnownMembers(question, ASKED, further);
  const { explain } = question;
  const requirements = requireList(question.require).map(parseRequirement);
  const subject = requireSubject(question.subject);
  const { at, asOf } = parseTime(question);
  if (explain !== undefined && typeof explain !== "boolean") {
    throw invalid("/explain", "explain must be true or false");
  }
  return new ParsedQuestion({ subject, requirements, at, asOf, explain });
}

/** Refuses a misspelt member, which would otherwise ask a weaker question. */
function requireKnownMembers(
  question: object,
  own: readonly string[],
  further: readonly string[],
): void {
  for (const name of Object.keys(question)) {
    if (own.includes(name) || further.includes(name)) continue;
    const known = [...own, ...further];
    const folded = suggest(fold(name), known.map(fold));
    const meant = known.find((each) => fold(each) === folded);
    const end = meant === undefined ? "" : `; did you mean ${quote(meant)}?`;
    throw invalid(
      `/${escapePointer(name.slice(0, MAX_NAME_LENGTH).toWellFormed())}`,
      `there is no member ${quote(name)}${end}`,
    );
  }
}

/** Maximum length of an unknown name that an error repeats. */
const MAX_NAME_LENGTH = 80;

/** Makes the name of a member in HTTP, `max_age_seconds`, equal to `maxAgeMs`. */
function fold(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toLowerCase().replace(/[_-]/g, "")
    .replace(/seconds$/, "ms");
}

function invalid(pointer: string, why: string): SigError {
  return new SigError("invalid_request", {
    action: "check",
    reason: why,
    context: { pointer },
  });
}

function requireSubject(subject: unknown): string {
  if (typeof subject === "string" && subject !== "") return subject;
  const why = subject === ""
    ? "the subject must not be empty"
    : "the subject must be a string that is not empty";
  throw new SigError("invalid_identifier", {
    action: "check",
    reason: why,
    context: { pointer: "/subject" },
  });
}
