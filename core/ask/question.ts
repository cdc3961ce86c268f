/** Parsing of questions and their requirements (docs/protocol.md §5). @module */

import { SigError } from "../errors/error.ts";
import {
  type AskedTime,
  type ParsedTime,
  parseTime,
  type TimeQuestion,
} from "./evaluation_time.ts";
import { isObject } from "../event/fields.ts";
import { quote } from "../text/escape_invisible.ts";
import { escapePointer } from "../text/json.ts";
import { suggest } from "../text/suggest.ts";
import {
  RELATIONSHIP_TYPES,
  type RelationshipState,
  type RelationshipType,
} from "../event/types.ts";

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

/** The keys of requirements. */
export const REQUIREMENT_KEYS = [
  "relationship",
  "role",
  "relationship_id",
] as const;

/** The key of a requirement. */
export type RequirementKey = (typeof REQUIREMENT_KEYS)[number];

/** A requirement before parsing: `key=value`, or `{ key: value }`. */
export type AskedRequirement =
  | `relationship=${RelationshipType}`
  | `role=${string}`
  | `relationship_id=${string}`
  | {
    readonly relationship: RelationshipType;
    readonly role?: never;
    readonly relationship_id?: never;
  }
  | {
    readonly relationship?: never;
    readonly role: string;
    readonly relationship_id?: never;
  }
  | {
    readonly relationship?: never;
    readonly role?: never;
    readonly relationship_id: string;
  };

/** The requirements of a question before parsing: at least one. */
export type AskedRequirements = readonly [
  AskedRequirement,
  ...AskedRequirement[],
];

/** A parsed requirement. */
export interface Requirement {
  /** The member of the relationship that is compared. */
  readonly key: RequirementKey;
  /** The required value, compared exactly. */
  readonly value: string;
}

/**
 * Parses a requirement: `key=value`, or an object with exactly one member.
 *
 * @example
 * ```ts
 * import { parseRequirement } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const expected = { key: "role", value: "deploy" } as const;
 * assertEquals(parseRequirement("role=deploy"), expected);
 * assertEquals(parseRequirement({ role: "deploy" }), expected);
 * ```
 *
 * @throws {SigError} `invalid_requirement` for an unknown key, an empty value,
 * or a relationship type that v0.1 does not define: a requirement that nothing
 * can meet is a mistake, not a deny.
 */
export function parseRequirement(input: unknown): Requirement {
  const [key, value] = splitRequirement(input);
  if (!REQUIREMENT_KEYS.includes(key as RequirementKey)) {
    throw invalidRequirement(
      `key ${quote(key)} must be one of ${REQUIREMENT_KEYS.join(", ")}`,
      suggest(key, REQUIREMENT_KEYS),
    );
  }
  if (value === "") throw invalidRequirement(`${key} must have a value`);
  if (
    key === "relationship" &&
    !(RELATIONSHIP_TYPES as readonly string[]).includes(value)
  ) {
    throw invalidRequirement(
      `relationship ${quote(value)} must be one of ${
        RELATIONSHIP_TYPES.join(", ")
      }`,
      suggest(value, RELATIONSHIP_TYPES),
    );
  }
  return { key: key as RequirementKey, value };
}

/**
 * Returns requirements whose types are not known, such as those of a
 * configuration, for the question that they are used in.
 *
 * @example
 * ```ts
 * import { parseQuestion, parseRequirements } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const texts: string[] = ["relationship=employee", "role=deploy"];
 * const { requirements } = parseQuestion({
 *   subject: "did:web:alice.example",
 *   require: parseRequirements(texts),
 * });
 * assertEquals(requirements[1], { key: "role", value: "deploy" });
 * ```
 *
 * @throws {SigError} `requirements_empty` for an empty list,
 * `invalid_requirement` for the first invalid requirement, `invalid_request`
 * if it is not a list.
 */
export function parseRequirements(
  texts: readonly (string | { readonly [key: string]: string })[],
): AskedRequirements {
  requireList(texts).forEach(parseRequirement);
  return texts as unknown as AskedRequirements;
}

/**
 * Returns a list with at least one item: every relationship would meet an empty
 * one.
 *
 * @throws {SigError} `invalid_request` if it is not a list,
 * `requirements_empty`.
 */
function requireList(require: unknown): readonly unknown[] {
  if (Array.isArray(require)) return requireSome(require);
  const why = require === undefined
    ? "the member require is missing"
    : "require must be a list";
  throw new SigError("invalid_request", {
    action: "check",
    reason: why,
    context: {
      pointer: "/require",
      hint: 'For example: ["relationship=employee", "role=deploy"].',
    },
  });
}

/** @throws {SigError} `requirements_empty` */
function requireSome<T>(requirements: readonly T[]): readonly T[] {
  if (requirements.length > 0) return requirements;
  throw new SigError("requirements_empty", {
    action: "check",
    reason: "at least one requirement is needed",
    context: { hint: "For example: relationship=employee, role=deploy." },
  });
}

function splitRequirement(input: unknown): [string, string] {
  if (typeof input === "string") {
    const at = input.indexOf("=");
    if (at < 0) throw invalidRequirement(`${quote(input)} must be key=value`);
    return [input.slice(0, at), input.slice(at + 1)];
  }
  const entries = isObject(input) ? Object.entries(input) : [];
  const [entry] = entries;
  if (entries.length !== 1 || entry === undefined) {
    throw invalidRequirement(
      "it must be key=value, or an object with one member",
    );
  }
  const [key, value] = entry;
  if (typeof value !== "string") {
    throw invalidRequirement(`${quote(key)} must be a string`);
  }
  return [key, value];
}

function invalidRequirement(why: string, meant?: string): SigError {
  const hint = meant === undefined
    ? "For example: relationship=employee, role=deploy."
    : `Did you mean ${meant}?`;
  return new SigError(
    "invalid_requirement",
    { action: "use requirement", reason: why, context: { hint } },
  );
}

/** Returns whether a relationship of any status meets a requirement. */
export function meets(
  state: RelationshipState,
  { key, value }: Requirement,
): boolean {
  switch (key) {
    case "relationship":
      return state.relationship_type === value;
    case "role":
      return state.roles.includes(value);
    case "relationship_id":
      return state.relationship_id === value;
  }
}
