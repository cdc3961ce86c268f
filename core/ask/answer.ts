/** What is answered, and why (docs/protocol.md §5). @module */

import type { Requirement } from "./requirement.ts";
import type { EffectiveStatus } from "../replay/effective_state.ts";
import type { Warning } from "../event/types.ts";

/** Every reason of a deny. */
export const DENY_REASONS = [
  "no_relationship",
  "relationship_type_missing",
  "role_missing",
  "relationship_id_missing",
  "revoked",
  "expired",
  "not_yet_valid",
  "requirements_split",
] as const;

/** Why an answer is deny: a closed list. */
export type DenyReason = (typeof DENY_REASONS)[number];

/** One reason of a deny. */
export interface Reason {
  /** Which. */
  readonly code: DenyReason;
  /** The relationship that it is about. */
  readonly relationship_id?: string;
  /** That relationship's last event. */
  readonly sequence?: number;
  /** The requirement that it is about. */
  readonly requirement?: Requirement;
}

/** How one relationship was judged. */
export interface ExplainedRelationship {
  /** Unique within its issuer only. */
  readonly relationship_id: string;
  /** Its type. */
  readonly relationship_type: string;
  /** Its roles. */
  readonly roles: readonly string[];
  /** Start of validity, or null. */
  readonly valid_from: string | null;
  /** End of validity, or null. */
  readonly valid_until: string | null;
  /** Its effective status at that instant. */
  readonly effective_status: EffectiveStatus;
  /** Its last event. */
  readonly last_sequence: number;
  /** Each requirement, and whether it is met. */
  readonly requirements: readonly (Requirement & { readonly met: boolean })[];
}

/** How a question was judged. */
export interface Explanation {
  /** The instant that was judged. */
  readonly judged_at: string;
  /** `now`: the feed's last word. `then`: what was true at the instant. */
  readonly tense: "now" | "then";
  /** Number of events that were looked at. */
  readonly events: number;
  /** Every relationship of the subject. */
  readonly relationships: readonly ExplainedRelationship[];
  /** Whether relationships were left out, to bound the answer. */
  readonly truncated?: true;
  /** How many there are; present when some were left out. */
  readonly relationship_count?: number;
}

/** What core knows of an answer. */
export interface CheckResult {
  /** Allow or deny; "could not answer" is an error instead. */
  readonly decision: "allow" | "deny";
  /** The subject that was asked about. */
  readonly subject: string;
  /** The requirements, as understood. */
  readonly requirements: readonly Requirement[];
  /** The relationship that meets them, null on deny. */
  readonly matched_relationship_id: string | null;
  /** Sequence of the last event that was looked at. */
  readonly last_sequence: number;
  /** The issuer's DID. */
  readonly issuer: string;
  /** Why not; empty on allow. */
  readonly reasons: readonly Reason[];
  /** How many reasons are left out, where some are, to bound the answer. */
  readonly reasons_left_out?: number;
  /** The clock when the answer was made. */
  readonly evaluated_at: string;
  /** As asked, or null. */
  readonly at: string | null;
  /** As asked, or null. */
  readonly as_of: number | string | null;
  /** When the answer may change with no further event, or null for never. */
  readonly not_after: string | null;
  /** On request only. */
  readonly explain?: Explanation;
}

/** How fresh a fetched state is. */
export interface Freshness {
  /** When the issuer last confirmed it. */
  readonly observed_at: string;
  /** Seconds from then to when the question was asked. */
  readonly age_seconds: number;
  /** How old it may be. */
  readonly max_age_seconds: number;
  /** Whether it is older than that. */
  readonly status: "fresh" | "stale";
}

/**
 * Where the documents came from. Only `https` proves the origin: `http` means
 * that at least one of them came without TLS.
 */
export type SourceKind = "https" | "http" | "local" | "inline";

/** How an answer relates to what was seen of the feed before. */
export type Continuity = "first_seen" | "consistent" | "unpinned";

/** How an answer was proved without the whole feed. */
export interface AnswerProof {
  /** Events of the checkpoint. */
  readonly size: number;
  /** Its tree hash, as the checkpoint has it. */
  readonly root: string;
  /** The hash of its state tree, as the checkpoint has it. */
  readonly state: string;
  /** The issuer's key that signed the checkpoint. */
  readonly kid: string;
  /** When the issuer last said that this checkpoint is the newest, or null. */
  readonly signed_at: string | null;
  /** Events after the checkpoint that were read too. */
  readonly tail: number;
}

/** An answer as it is given to people and programs. */
export interface CheckAnswer extends CheckResult {
  /** Where the bytes came from. */
  readonly source: SourceKind;
  /** Null for local and inline sources. */
  readonly freshness: Freshness | null;
  /** How it relates to what was seen before. */
  readonly continuity: Continuity;
  /** What was odd. */
  readonly warnings: readonly Warning[];
  /** How it was proved; null where the whole feed was read. */
  readonly proof: AnswerProof | null;
}

/** How much an answer says at most; it rests upon everything all the same. */
export interface AnswerLimits {
  /** Relationships that are explained (default: all). */
  readonly maxExplained?: number;
  /**
   * Verdicts of an explanation, one a relationship and requirement, but those of
   * one relationship at least (default: any number).
   */
  readonly maxVerdicts?: number;
  /**
   * Characters of an explanation's texts, roughly, but one relationship at least:
   * each repeats the requirements (default: any number).
   */
  readonly maxExplainLength?: number;
  /** Reasons of a deny (default: all). */
  readonly maxReasons?: number;
}
