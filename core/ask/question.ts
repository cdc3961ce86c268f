/** Parsing of questions (docs/protocol.md §5). @module */

import { SigError } from "../errors/error.ts";
import {
  type AskedTime,
  type ParsedTime,
  parseTime,
  type TimeQuestion,
} from "./evaluation_time.ts";
import { parseRequirement, type Requirement } from "./requirement.ts";

/** A requirement before parsing: `key=value`, or `{ key: value }`. */
export type AskedRequirement = string | { readonly [key: string]: string };

/** A question about a subject, before parsing. */
export interface AskedQuestion extends AskedTime {
  /** The subject: a non-empty string, usually a DID; compared exactly. */
  readonly subject: string;
  /** The requirements, at least one. */
  readonly require: readonly AskedRequirement[];
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

/**
 * Parses a question. This needs no feed. A parsed question is returned
 * unchanged.
 *
 * @example Reject a malformed question before anything is fetched
 * ```ts
 * import { parseQuestion, SigError } from "@sig/core";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => parseQuestion({ subject: "did:web:alice.example", require: [] }),
 *   SigError,
 *   "at least one requirement is needed",
 * );
 * ```
 *
 * @throws {SigError} `requirements_empty`, `invalid_requirement`,
 * `invalid_identifier` for an empty subject, `invalid_request` for a malformed
 * time: in this order, the first of them.
 */
export function parseQuestion(
  question: AskedQuestion | ParsedQuestion,
): ParsedQuestion {
  if (question instanceof ParsedQuestion) return question;
  const requirements = requireSome(question.require).map(parseRequirement);
  const subject = requireSubject(question.subject);
  const { at, asOf } = parseTime(question);
  const { explain } = question;
  return new ParsedQuestion({ subject, requirements, at, asOf, explain });
}

/** Every relationship would meet an empty list. */
function requireSome<T>(requirements: readonly T[]): readonly T[] {
  if (requirements.length > 0) return requirements;
  throw new SigError(
    "requirements_empty",
    "Cannot check: at least one requirement is needed",
    { context: { hint: "For example: relationship=employee, role=deploy." } },
  );
}

function requireSubject(subject: string): string {
  if (subject !== "") return subject;
  throw new SigError(
    "invalid_identifier",
    "Cannot check: the subject must not be empty",
    { context: { pointer: "/subject" } },
  );
}
