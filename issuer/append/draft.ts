/** Drafts of events: their strict parsing, and their faults. @module */

import {
  type Display,
  type ErrorCode,
  type ErrorContext,
  isSigError,
  type Issue,
  type OpenObject,
  type ReasonCode,
  type RelationshipType,
  SigError,
  type SigEvent,
  type Visibility,
} from "@sig/core";
import {
  escapePointer,
  isObject,
  member,
  quote,
  withContext,
} from "@sig/core/internal";

/** Members of both drafts. Omitted identifiers and times are generated. */
export interface DraftBase {
  /**
   * Repeating an append with the same value writes no second event (default: a
   * new ULID).
   */
  readonly event_id?: string;
  /** Time of issue, RFC 3339 UTC (default: now). */
  readonly issued_at?: string;
  /** Who may read the event (default: `public`). */
  readonly visibility?: Visibility;
  /** Explanation for people, at most 2,000 characters. */
  readonly reason?: string | null;
  /** Members defined by the issuer, at most 16 KiB as JSON. */
  readonly metadata?: OpenObject | null;
}

/** Draft of a `relationship.upsert` (docs/protocol.md §3). */
export interface UpsertDraft extends DraftBase {
  /** Always `relationship.upsert`. */
  readonly event_type: "relationship.upsert";
  /** DID of the subject. An existing relationship keeps its subject. */
  readonly subject: string;
  /** The type of relationship. */
  readonly relationship_type: RelationshipType;
  /** Identifier; an existing relationship is replaced (default: a new ULID). */
  readonly relationship_id?: string;
  /** Roles: at most 64, of at most 128 characters each (default: none). */
  readonly roles?: readonly string[];
  /** Start of validity (inclusive), or null. */
  readonly valid_from?: string | null;
  /** End of validity (exclusive), or null. */
  readonly valid_until?: string | null;
  /** Texts for display to people. */
  readonly display?: Display | null;
}

/** Draft of a `relationship.revoke` (docs/protocol.md §3). */
export interface RevokeDraft extends DraftBase {
  /** Always `relationship.revoke`. */
  readonly event_type: "relationship.revoke";
  /** Identifier of the relationship to revoke. */
  readonly relationship_id: string;
  /** The reason of the revocation. */
  readonly reason_code: ReasonCode;
  /** Must be the relationship's subject (default: that subject). */
  readonly subject?: string;
  /** At most 60 s after `issued_at` (default: `issued_at`). */
  readonly effective_at?: string;
  /** Revoke again, to correct the reason or time of the first revocation. */
  readonly amend?: boolean;
}

/** A draft of an event. */
export type EventDraft = UpsertDraft | RevokeDraft;

/** A copied draft, whose values are not validated yet. */
export type DraftMembers = {
  readonly [member: string]: unknown;
  readonly event_type: "relationship.upsert" | "relationship.revoke";
};

const SHARED_MEMBERS = {
  event_type: true,
  event_id: true,
  issued_at: true,
  relationship_id: true,
  subject: true,
  visibility: true,
  reason: true,
  metadata: true,
} as const;

// Typed by the drafts' members, so that a new member can't be forgotten here.
const UPSERT_MEMBERS: { readonly [M in keyof Required<UpsertDraft>]: true } = {
  ...SHARED_MEMBERS,
  relationship_type: true,
  roles: true,
  valid_from: true,
  valid_until: true,
  display: true,
};

const REVOKE_MEMBERS: { readonly [M in keyof Required<RevokeDraft>]: true } = {
  ...SHARED_MEMBERS,
  reason_code: true,
  effective_at: true,
  amend: true,
};

/**
 * Copies a draft through JSON: its getters run once, and what JSON can't
 * represent (functions, undefined) is dropped. A misspelt member is refused,
 * because ignoring it would write another event than intended.
 *
 * @throws {SigError} `unknown_event_type`, `missing_field`, `invalid_field`
 * @throws {TypeError} if the draft is not JSON: cycles, BigInt.
 */
export function readDraft(draft: unknown): DraftMembers {
  const text: string | undefined = JSON.stringify(draft);
  const copy: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isObject(copy)) {
    throw new TypeError("Cannot append: a draft must be an object");
  }
  const type = member(copy, "event_type");
  if (type !== "relationship.upsert" && type !== "relationship.revoke") {
    throw refused(
      type === undefined
        ? "missing_field"
        : typeof type === "string"
        ? "unknown_event_type"
        : "invalid_field",
      "event_type must be relationship.upsert or relationship.revoke",
      { pointer: "/event_type" },
    );
  }
  const known = type === "relationship.upsert"
    ? UPSERT_MEMBERS
    : REVOKE_MEMBERS;
  const extra = Object.keys(copy).find((name) => !Object.hasOwn(known, name));
  if (extra !== undefined) {
    const shown = extra.slice(0, 80).toWellFormed();
    const why = `a draft of ${type} has no member ${quote(extra)}`;
    const pointer = `/${escapePointer(shown)}`;
    throw refused("invalid_field", why, { pointer });
  }
  return { ...copy, event_type: type };
}

/** Members for which null means absent (docs/protocol.md §3). */
const OPTIONAL = ["display", "reason", "metadata"];

/**
 * Returns whether the event has every member of the draft with the same value.
 * Members that the issuer generates are not compared.
 */
export function hasSameContent(draft: DraftMembers, event: SigEvent): boolean {
  const written = new Map<string, unknown>(Object.entries(event));
  return Object.keys(draft).every((name) => {
    // Controls the append; it is not a member of the event.
    if (name === "amend") return true;
    const wanted = draft[name];
    if (wanted === null && OPTIONAL.includes(name)) {
      return (written.get(name) ?? null) === null;
    }
    return sameJson(wanted, written.get(name));
  });
}

/** Returns whether two values are the same JSON, in any order of members. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length &&
      a.every((each, index) => sameJson(each, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]));
}

/** Codes of faults that are caused by a draft, not by the disk or the feed. */
const CAUSED_BY_DRAFT: readonly string[] = ["usage", "invalid", "conflict"];

/** Collects faults up to a limit; any other error is thrown immediately. */
export class DraftFaults {
  readonly #drafts: number;
  readonly #most: number;
  readonly #issues: (Issue & { readonly draft: number })[] = [];
  #first: SigError | undefined;

  constructor(drafts: number, most = 1) {
    this.#drafts = drafts;
    this.#most = most;
  }

  add(error: unknown, draft: number): void {
    if (!isSigError(error)) throw error;
    const { category, code, context, message } = error;
    const placed = this.#drafts === 1 ? error : withContext(error, { draft });
    if (!CAUSED_BY_DRAFT.includes(category)) throw placed;
    this.#first ??= placed;
    const pointer = context.pointer ?? "";
    const own: Issue = { pointer, code, detail: message };
    for (const issue of context.errors ?? [own]) {
      const place = `/${draft}${issue.pointer}`;
      this.#issues.push({ ...issue, pointer: place, draft });
    }
    if (this.#issues.length >= this.#most) this.throwIfAny();
  }

  /** @throws {SigError} the first fault; all of them in `context.errors`. */
  throwIfAny(): void {
    const first = this.#first;
    if (first === undefined) return;
    if (this.#most === 1) throw first;
    throw new SigError(first.code, {
      action: first.action,
      reason: first.reason,
      context: { ...first.context, errors: this.#issues.slice(0, this.#most) },
      cause: first.cause,
    });
  }
}

/** Returns the error of a refused append. */
export function refused(
  code: ErrorCode,
  why: string,
  context: ErrorContext,
): SigError {
  return new SigError(code, { action: "append", reason: why, context });
}
