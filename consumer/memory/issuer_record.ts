/** The in-memory record of one issuer in a consumer. @module */

import {
  addSeconds,
  compareInstants,
  type Continuity,
  DEFAULT_LIMITS,
  type FeedHistory,
  formatInstant,
  instantOf,
  isSigError,
  type Limits,
  type SigError,
  type Warning,
} from "@sig/core";
import type { KeyResolver } from "@sig/jose/keys";
import type { HeldDocuments } from "../read/issuer_documents.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import type { HeldFeed, StoredLines } from "./stored_lines.ts";
import {
  CONTRADICTIONS,
  type IssuerPin,
  newPin,
  type PinRules,
  type ProofMemory,
  type SeenFeed,
  type SeenProof,
  type StoredPin,
} from "./pin.ts";

/** A verified issuer at one time. */
export interface Observation {
  readonly verified: VerifiedIssuer;
  readonly observedAt: Date;
  readonly continuity: Continuity;
  /** Whether it answers only because the issuer can't be reached. */
  readonly isStale?: boolean | undefined;
  /** The stored lines; the state of `verified` is then empty. */
  readonly stored?: StoredLines | undefined;
}

/** The result of a refresh without a fault. */
export interface Refreshed {
  readonly observation: Observation;
  readonly pin: IssuerPin;
  readonly keys?: KeyResolver | undefined;
  /** Undefined if the feed must be read from its start. */
  readonly feed: HeldFeed | undefined;
  readonly documents: HeldDocuments;
}

/**
 * An immutable record of an issuer; each refresh returns a new one. Only a
 * refresh that was verified as a whole adds to it. After a fault or a
 * contradiction to the pin the older state is kept, but does not answer.
 */
export interface IssuerRecord {
  /** Undefined for an unknown issuer. */
  readonly known: StoredPin | undefined;
  /** The stored text of the pin, as last read or written. */
  readonly text?: string | undefined;
  readonly held: Refreshed | undefined;
  /** When a refresh was last repeated because of unknown keys. */
  readonly repeatedAt: Date | undefined;
}

/** The record of an unknown issuer. */
export const NOTHING_KNOWN: IssuerRecord = Object.freeze({
  known: undefined,
  held: undefined,
  repeatedAt: undefined,
});

/**
 * Returns whether a fault or contradiction was seen since the last valid
 * refresh. If so, nothing is answered and no request is conditional: a 304 must
 * not hide a fault.
 */
export function isUnusable({ known }: IssuerRecord): boolean {
  return known !== undefined && (known.unusable || known.incident !== null);
}

/** Returns the latest observation; undefined after a fault or contradiction. */
export function answerable(record: IssuerRecord): Observation | undefined {
  const { known, held } = record;
  // Other processes may have seen more events than this process.
  const isLatest = held?.pin.prefix_sha256 === known?.pin.prefix_sha256 &&
    (known?.pin.proof?.seen ?? 0) <= (held?.pin.sequence ?? 0);
  return isUnusable(record) || !isLatest ? undefined : held?.observation;
}

/** Size in bytes. */
export function heldBytes({ held }: IssuerRecord): number {
  if (held === undefined) return 0;
  let bytes = held.pin.bytes;
  for (const document of held.documents.values()) {
    bytes += document.bytes.length;
  }
  return bytes;
}

/**
 * Returns the record with the result of a read by proof; the pin of the feed
 * stays as it is.
 */
export function acceptProof(
  record: IssuerRecord,
  proof: ProofMemory,
  { issuer, ...rules }: PinRules & { readonly issuer: string },
): IssuerRecord {
  const at = proof.last_seen;
  const known = record.known ?? {
    ...newPin({
      // Every feed continues an empty feed.
      issuer,
      sequence: 0,
      bytes: 0,
      prefix_sha256: SHA256_OF_NOTHING,
      last_event_id: null,
      keys: {},
      etag: null,
      first_seen: at,
      last_seen: at,
    }, rules),
    unread: true as const,
  };
  // A read that began later may have ended before this one.
  const before = known.pin.proof ?? proof;
  const later = before.size > proof.size ? before : proof;
  const seen = Math.max(before.seen, proof.seen);
  const pin = { ...known.pin, proof: { ...later, seen } };
  return { ...record, known: { ...known, pin } };
}

const SHA256_OF_NOTHING =
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export class RefreshFailure extends Error {
  override readonly name = "RefreshFailure";
  /** What the issuer served; only for a contradiction. */
  readonly seen: SeenFeed | SeenProof | undefined;
  /** Whether a different feed was served before the connection broke. */
  readonly sawDifference: boolean;

  constructor(
    cause: unknown,
    { seen, sawDifference = false }: Partial<
      Pick<RefreshFailure, "seen" | "sawDifference">
    > = {},
  ) {
    super("Cannot rely upon issuer", { cause });
    this.seen = seen;
    this.sawDifference = sawDifference;
  }

  static of(error: unknown): RefreshFailure {
    return error instanceof RefreshFailure ? error : new RefreshFailure(error);
  }
}

export interface Refresh {
  readonly record: IssuerRecord;
  /** Undefined on success, when `record.held` is the result. */
  readonly failure?: RefreshFailure | undefined;
  /** Whether the whole feed was verified, and not only its new events. */
  readonly isFromStart: boolean;
}

/**
 * Returns the record after a failed refresh. If the issuer can't be reached,
 * the state stays usable, unless the issuer was seen to serve a different feed.
 */
export function acceptFailure(
  record: IssuerRecord,
  { cause: error, seen, sawDifference }: RefreshFailure,
  now: Date,
): IssuerRecord {
  const { known, held } = record;
  if (known === undefined) return record;
  const isUnavailable = isSigError(error) && error.category === "unavailable";
  const code = contradictionOf(error);
  const { incident } = known;
  // A verification that read events before it failed can't be continued.
  const { isIntact, events } = held?.feed?.verification ?? {};
  const isWhole = isIntact && events === held?.pin.sequence;
  return {
    ...record,
    held: held === undefined || isWhole ? held : { ...held, feed: undefined },
    known: {
      ...known,
      unusable: isUnusable(record) || !isUnavailable || sawDifference,
      last_contradiction: code ?? known.last_contradiction,
      incident: code === undefined || incident?.code === code ? incident : {
        code,
        since: formatInstant(instantOf(now)),
        detail: detailOf(error as SigError),
        // Keeps what was seen first: an operator has confirmed nothing later.
        seen: incident?.seen ?? seen ?? null,
      },
    },
  };
}

/** Characters of an incident, because the size of a record is limited. */
const MAX_DETAIL = 2_000;

/** Returns the message, with the old and new value if the context has them. */
function detailOf({ message, context }: SigError): string {
  const { remembered_thumbprint: oldKey, published_thumbprint: newKey } =
    context;
  const { remembered_sha256: oldBytes, fetched_sha256: newBytes } = context;
  const values = newKey !== undefined
    ? `: was ${oldKey}, is ${newKey}`
    : newBytes !== undefined
    ? `: the SHA-256 up to there was ${oldBytes}, is ${newBytes}`
    : "";
  return (message + values).slice(0, MAX_DETAIL);
}

export function contradictionOf(error: unknown): string | undefined {
  return isSigError(error) && CONTRADICTIONS.has(error.code)
    ? error.code
    : undefined;
}

/**
 * Drops `issued_at_future` warnings of events that are no longer ahead of the
 * clock.
 */
export function withoutPast(
  warnings: readonly Warning[],
  issuedAt: FeedHistory["issuedAt"],
  { now, limits = DEFAULT_LIMITS }: {
    readonly now: Date;
    readonly limits?: Limits | undefined;
  },
): readonly Warning[] {
  const horizon = addSeconds(instantOf(now), limits.clockSkewSeconds);
  return warnings.filter(({ code, sequence }) =>
    code !== "issued_at_future" || sequence === undefined ||
    compareInstants(issuedAt(sequence), horizon) > 0
  );
}

/**
 * Precedes the warnings of events: an answer lists few, and an issuer can cause
 * any number.
 */
export function contradictionWarning(
  known: StoredPin | undefined,
): readonly Warning[] {
  const code = known?.last_contradiction ?? null;
  if (code === null) return [];
  return [{
    code: "history_was_inconsistent",
    detail: "since it is remembered, the issuer served something that " +
      `contradicts its history (${code})`,
  }];
}
