/** Requirements on a relationship (docs/protocol.md §5). @module */

import { SigError } from "../errors/error.ts";
import { isObject } from "../event/fields.ts";
import { quote } from "../text/escape_invisible.ts";
import { suggest } from "../text/suggest.ts";
import {
  RELATIONSHIP_TYPES,
  type RelationshipState,
  type RelationshipType,
} from "../event/types.ts";

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
    throw invalid(
      `key ${quote(key)} must be one of ${REQUIREMENT_KEYS.join(", ")}`,
      suggest(key, REQUIREMENT_KEYS),
    );
  }
  if (value === "") throw invalid(`${key} must have a value`);
  if (
    key === "relationship" &&
    !(RELATIONSHIP_TYPES as readonly string[]).includes(value)
  ) {
    throw invalid(
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
export function requireList(require: unknown): readonly unknown[] {
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
export function requireSome<T>(requirements: readonly T[]): readonly T[] {
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
    if (at < 0) throw invalid(`${quote(input)} must be key=value`);
    return [input.slice(0, at), input.slice(at + 1)];
  }
  const entries = isObject(input) ? Object.entries(input) : [];
  const [entry] = entries;
  if (entries.length !== 1 || entry === undefined) {
    throw invalid("it must be key=value, or an object with one member");
  }
  const [key, value] = entry;
  if (typeof value !== "string") {
    throw invalid(`${quote(key)} must be a string`);
  }
  return [key, value];
}

function invalid(why: string, meant?: string): SigError {
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
