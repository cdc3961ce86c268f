/** The question, read once (docs/protocol.md §5). @module */

import { SigError } from "../errors/error.ts";
import {
  type AskedTime,
  type ParsedTime,
  parseTime,
  type TimeQuestion,
} from "./evaluation_time.ts";
import { parseRequirement, type Requirement } from "./requirement.ts";

/** A requirement as it is asked: `key=value`, or `{ key: value }`. */
export type AskedRequirement = string | { readonly [key: string]: string };

/** A question about a subject, as it is asked. */
export interface AskedQuestion extends AskedTime {
  /** Any non-empty string, usually a DID; compared exactly. */
  readonly subject: string;
  /** At least one. */
  readonly require: readonly AskedRequirement[];
  /** Show how each relationship was judged. */
  readonly explain?: boolean | undefined;
}

/** A question about a subject, with a clock. */
export interface Question extends AskedQuestion, TimeQuestion {}

/** The parts of a question, each of them parsed. */
export interface QuestionParts extends Partial<ParsedTime> {
  /** Any non-empty string; compared exactly. */
  readonly subject: string;
  /** At least one. */
  readonly requirements: readonly Requirement[];
  /** Show how each relationship was judged. */
  readonly explain?: boolean | undefined;
}

/**
 * A question in the form that answers are made from: nothing of it has to be
 * judged again, whichever feed it is asked of. A class, so that no value that
 * was not judged can pass for one.
 */
export class ParsedQuestion implements ParsedTime {
  /** Whom it is about. */
  readonly subject: string;
  /** The requirements that one relationship must all meet; never empty. */
  readonly requirements: readonly Requirement[];
  /** What was true then. */
  readonly at: ParsedTime["at"];
  /** What was known then. */
  readonly asOf: ParsedTime["asOf"];
  /** Show how each relationship was judged. */
  readonly explain: boolean;

  /**
   * Puts parsed parts together.
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
 * Judges a question as far as that needs no feed; one that was parsed already
 * is returned as it is.
 *
 * @example A malformed question is refused before anything is fetched
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

/** An empty list would be met by every relationship. */
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
