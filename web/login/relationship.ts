/** Logging in only with a relationship (INTERFACES §4). @module */

import {
  type CheckAnswer,
  type Continuity,
  type Freshness,
  type JsonValue,
  quote,
  type Requirement,
  SigError,
} from "@sig/core";

/**
 * Asks an issuer about a subject; which issuer and what is required has been
 * configured. It must throw when there is no answer.
 */
export type CheckRelationship = (
  subject: string,
  now: Date,
) => Promise<LoginAnswer>;

/** An answer; a deny may say which relationship is not active, and when. */
export type LoginAnswer = CheckAnswer & {
  readonly relationship?: InactiveRelationship | undefined;
};

/** A relationship that is revoked, expired or not valid yet. */
export interface InactiveRelationship {
  /** What kind of relationship. */
  readonly relationship_type: string;
  /** RFC 3339, or null. */
  readonly valid_from: string | null;
  /** RFC 3339, or null. */
  readonly valid_until: string | null;
  /** RFC 3339; of a revoked one. */
  readonly revoked_effective_at?: string;
}

/** The relationship that a login was allowed by. */
export interface LoginRelationship {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Its identifier in the issuer's feed. */
  readonly relationship_id: string;
  /** What it meets. */
  readonly requirements: readonly Requirement[];
  /** The feed's last event that was looked at. */
  readonly last_sequence: number;
  /** RFC 3339 UTC; when the issuer's feed was asked. */
  readonly evaluated_at: string;
  /** RFC 3339 UTC; when it may end by itself, or null. Ask again by then. */
  readonly not_after: string | null;
  /** How old the state was; `maxAgeMs` bounds it. */
  readonly freshness: Freshness | null;
  /** How it relates to what was seen before. */
  readonly continuity: Continuity;
}

/**
 * The relationship of an answer.
 *
 * @throws {SigError} `relationship_denied` with `context.reasons`.
 * @throws {TypeError} for an answer about somebody else.
 */
export function requireRelationship(
  answer: LoginAnswer,
  subject: string,
): LoginRelationship {
  if (answer.subject !== subject) {
    throw new TypeError("Cannot use answer: it is about another subject");
  }
  const { decision, matched_relationship_id } = answer;
  if (decision === "allow" && matched_relationship_id !== null) {
    return {
      issuer: answer.issuer,
      relationship_id: matched_relationship_id,
      requirements: answer.requirements,
      last_sequence: answer.last_sequence,
      evaluated_at: answer.evaluated_at,
      not_after: answer.not_after,
      freshness: answer.freshness,
      continuity: answer.continuity,
    };
  }
  throw new SigError(
    "relationship_denied",
    `Cannot accept attestation: ${quote(answer.issuer)} does not vouch for ${
      quote(subject)
    } (${answer.reasons.map(({ code }) => code).join(", ")})`,
    {
      context: {
        issuer: answer.issuer,
        // Reasons are JSON; interfaces lack the index signature to say so.
        reasons: answer.reasons as unknown as JsonValue,
        ...(answer.relationship &&
          { relationship: { ...answer.relationship } }),
        last_sequence: answer.last_sequence,
        hint: "Ask the issuer for the relationship that is required here.",
      },
    },
  );
}
