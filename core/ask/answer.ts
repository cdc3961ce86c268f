/** Answers and their reasons (docs/protocol.md §5). @module */

import type { Requirement } from "./question.ts";
import type { EffectiveStatus } from "../replay/effective_state.ts";
import type { Warning } from "../event/types.ts";

/**
 * The reasons of a deny. The first case that applies decides (docs/protocol.md
 * §5.5).
 */
export const DENY_REASONS = [
  // The subject has no relationship.
  "no_relationship",
  // No relationship meets this requirement, whatever its status.
  "relationship_type_missing",
  "role_missing",
  "relationship_id_missing",
  // The status of a relationship that meets every requirement; or, if there is
  // none, of one that meets a requirement that no active relationship meets.
  "revoked",
  "expired",
  "not_yet_valid",
  // Each requirement is met by an active relationship, but none meets all.
  "requirements_split",
] as const;

/** A reason of a deny (closed list). */
export type DenyReason = (typeof DENY_REASONS)[number];

/** One reason of a deny, and what it concerns. */
export interface Reason {
  /** The code of the reason. */
  readonly code: DenyReason;
  /** The relationship that the reason concerns. */
  readonly relationship_id?: string;
  /** Sequence of the event that decides its status (docs/protocol.md §5.5). */
  readonly sequence?: number;
  /** The requirement that the reason concerns. */
  readonly requirement?: Requirement;
}

/** How one relationship was evaluated. */
export interface ExplainedRelationship {
  /** The relationship's identifier, unique within its issuer only. */
  readonly relationship_id: string;
  /** The relationship's type, such as `employee`. */
  readonly relationship_type: string;
  /** The relationship's roles. */
  readonly roles: readonly string[];
  /** Start of validity (inclusive), or null for no defined start. */
  readonly valid_from: string | null;
  /** End of validity (exclusive), or null for no defined end. */
  readonly valid_until: string | null;
  /** The effective status at the evaluated instant. */
  readonly effective_status: EffectiveStatus;
  /** Sequence of the relationship's last event. */
  readonly last_sequence: number;
  /** Each requirement, and whether the relationship meets it. */
  readonly requirements: readonly (Requirement & { readonly met: boolean })[];
}

/** How a question was evaluated. */
export interface Explanation {
  /** The evaluated instant: RFC 3339 UTC. */
  readonly judged_at: string;
  /**
   * `now`: by the last event of each relationship. `then`: what was true at the
   * instant.
   */
  readonly tense: "now" | "then";
  /** The number of events taken into account. */
  readonly events: number;
  /** The subject's relationships. */
  readonly relationships: readonly ExplainedRelationship[];
  /** Present if relationships were left out to limit the answer's size. */
  readonly truncated?: true;
  /** The number of relationships; present if some were left out. */
  readonly relationship_count?: number;
}

/** The part of an answer that follows from the events alone. */
export interface CheckResult {
  /** The decision. A failure to answer is an error, never a deny. */
  readonly decision: "allow" | "deny";
  /** The subject of the question. */
  readonly subject: string;
  /** The parsed requirements. */
  readonly requirements: readonly Requirement[];
  /** The relationship that meets the requirements; null on deny. */
  readonly matched_relationship_id: string | null;
  /** Sequence of the last event taken into account. */
  readonly last_sequence: number;
  /** The issuer's DID. */
  readonly issuer: string;
  /** The reasons of a deny; empty on allow. */
  readonly reasons: readonly Reason[];
  /** The number of reasons left out; absent if none. */
  readonly reasons_left_out?: number;
  /** The clock time of the evaluation: RFC 3339 UTC. */
  readonly evaluated_at: string;
  /** The `at` of the question, or null. */
  readonly at: string | null;
  /** The `as_of` of the question, or null. */
  readonly as_of: number | string | null;
  /** When the answer may change without a further event; null for never. */
  readonly not_after: string | null;
  /** The evaluation of each relationship; present if requested. */
  readonly explain?: Explanation;
}

/** The age of a fetched state. */
export interface Freshness {
  /** When the state was last confirmed by the issuer: RFC 3339 UTC. */
  readonly observed_at: string;
  /** Seconds between that and the question. */
  readonly age_seconds: number;
  /** The maximum age in seconds. */
  readonly max_age_seconds: number;
  /** Whether the age exceeds the maximum (`stale`). */
  readonly status: "fresh" | "stale";
}

/**
 * Where the documents came from. Only `https` proves the origin: `http` means
 * that at least one of them was fetched without TLS.
 */
export type SourceKind = "https" | "http" | "local" | "inline";

/** How a feed relates to its pin. `unpinned`: no pin was used. */
export type Continuity = "first_seen" | "consistent" | "unpinned";

/** The proof behind an answer that was given without the whole feed. */
export interface AnswerProof {
  /** The number of events in the checkpoint. */
  readonly size: number;
  /** The checkpoint's tree hash, in the checkpoint's spelling. */
  readonly root: string;
  /** The hash of the checkpoint's state tree, in the checkpoint's spelling. */
  readonly state: string;
  /** The issuer's key that signed the checkpoint. */
  readonly kid: string;
  /** When the issuer last confirmed this checkpoint as the newest, or null. */
  readonly signed_at: string | null;
  /** The number of events read after the checkpoint. */
  readonly tail: number;
}

/** A complete answer, as people and programs receive it. */
export interface CheckAnswer extends CheckResult {
  /** Where the documents came from. */
  readonly source: SourceKind;
  /** The age of the state; null for local and inline sources. */
  readonly freshness: Freshness | null;
  /** How the feed relates to its pin. */
  readonly continuity: Continuity;
  /** Oddities that do not make the feed invalid. */
  readonly warnings: readonly Warning[];
  /** The proof; null if the whole feed was read. */
  readonly proof: AnswerProof | null;
}

/** Limits on the size of an answer. They do not affect the decision. */
export interface AnswerLimits {
  /** Maximum number of explained relationships (default: all). */
  readonly maxExplained?: number;
  /**
   * Maximum number of verdicts in an explanation, one for each relationship and
   * requirement. One relationship is always explained (default: no limit).
   */
  readonly maxVerdicts?: number;
  /**
   * Maximum length of an explanation in characters, roughly. Each relationship
   * repeats the requirements; one is always explained (default: no limit).
   */
  readonly maxExplainLength?: number;
  /** Maximum number of reasons of a deny (default: all). */
  readonly maxReasons?: number;
}
