/** What a running consumer knows of one issuer. @module */

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

/** An issuer as it was at one time. */
export interface Observation {
  /** Everything that was verified. */
  readonly verified: VerifiedIssuer;
  /** When fetching it began. */
  readonly observedAt: Date;
  /** How it relates to what was seen before. */
  readonly continuity: Continuity;
  /** Where the state is when a store has it; that of `verified` is empty then. */
  readonly stored?: StoredLines | undefined;
}

/** What a refresh found, when all of it was in order. */
export interface Refreshed {
  /** To be answered from. */
  readonly observation: Observation;
  /** Where the feed ends. */
  readonly pin: IssuerPin;
  /** Its keys, which need not be imported again. */
  readonly keys?: KeyResolver | undefined;
  /** To continue from; undefined once nothing can. */
  readonly feed: HeldFeed | undefined;
  /** To ask conditionally with. */
  readonly documents: HeldDocuments;
}

/**
 * What is known, as a value: each refresh makes the next one. It grows only by
 * refreshes that were verified as a whole; what is faulty or contradicts the pin
 * only takes away the right to answer from the older state.
 */
export interface IssuerRecord {
  /** What later fetches are compared with, and what happened to it. */
  readonly known: StoredPin | undefined;
  /** Its text in a store, as it was read or written last. */
  readonly text?: string | undefined;
  /** What the last refresh in order found. */
  readonly held: Refreshed | undefined;
  /** When a refresh was last repeated for keys that it did not know. */
  readonly repeatedAt: Date | undefined;
}

/** The record of an issuer of which nothing is known. */
export const NOTHING_KNOWN: IssuerRecord = Object.freeze({
  known: undefined,
  held: undefined,
  repeatedAt: undefined,
});

/**
 * Whether a fault or contradiction was seen since the last refresh in order.
 * Then nothing is answered, and no request is conditional: everything is
 * fetched, so that no fault can hide.
 */
export function isUnusable({ known }: IssuerRecord): boolean {
  return known !== undefined && (known.unusable || known.incident !== null);
}

/** The latest observation, unless a fault or contradiction was seen since. */
export function answerable(record: IssuerRecord): Observation | undefined {
  const { known, held } = record;
  // Others may have seen more of the issuer than this process holds.
  const isLatest = held?.pin.prefix_sha256 === known?.pin.prefix_sha256 &&
    (known?.pin.proof?.seen ?? 0) <= (held?.pin.sequence ?? 0);
  return isUnusable(record) || !isLatest ? undefined : held?.observation;
}

/** Bytes of the feed whose state is held, and of the documents with it. */
export function heldBytes({ held }: IssuerRecord): number {
  if (held === undefined) return 0;
  let bytes = held.pin.bytes;
  for (const document of held.documents.values()) {
    bytes += document.bytes.length;
  }
  return bytes;
}

/** The record with what a read by proof found; of the feed nothing is known. */
export function acceptProof(
  record: IssuerRecord,
  proof: ProofMemory,
  { issuer, ...rules }: PinRules & { readonly issuer: string },
): IssuerRecord {
  const at = proof.last_seen;
  const known = record.known ?? {
    ...newPin({
      // Every feed continues an empty one.
      ...{ issuer, sequence: 0, bytes: 0, prefix_sha256: SHA256_OF_NOTHING },
      ...{ last_event_id: null, keys: {}, etag: null },
      ...{ first_seen: at, last_seen: at },
    }, rules),
    unread: true as const,
  };
  // Another read may have ended before this one, which began earlier.
  const before = known.pin.proof ?? proof;
  const later = before.size > proof.size ? before : proof;
  const seen = Math.max(before.seen, proof.seen);
  const pin = { ...known.pin, proof: { ...later, seen } };
  return { ...record, known: { ...known, pin } };
}

const SHA256_OF_NOTHING =
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Why there is nothing to answer from. */
export class RefreshFailure extends Error {
  /** Always `RefreshFailure`. */
  override readonly name = "RefreshFailure";
  /** Of a contradiction: what was served. */
  readonly seen: SeenFeed | SeenProof | undefined;
  /** Another feed was served before the connection broke. */
  readonly sawDifference: boolean;

  /** The cause is a fault, a contradiction, or why something can't be read. */
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

  /** The failure itself where it is one already. */
  static of(error: unknown): RefreshFailure {
    return error instanceof RefreshFailure ? error : new RefreshFailure(error);
  }
}

/** What came of a refresh, and what is known from then on. */
export interface Refresh {
  /** Replaces the record that the refresh began with. */
  readonly record: IssuerRecord;
  /** Why there is nothing to answer from; else `record.held` is what was found. */
  readonly failure?: RefreshFailure | undefined;
  /** Whether all of the feed was verified, and not only what is new. */
  readonly isFromStart: boolean;
}

/**
 * The record after a refresh that failed. An issuer that can't be reached
 * leaves the state as good as it was, unless it was seen to serve another feed.
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
  // It may have continued before the failure: then nothing can go on from it.
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
        // What was seen first: what came later was never looked at.
        seen: incident?.seen ?? seen ?? null,
      },
    },
  };
}

/** Characters of an incident's detail: the record has a limit. */
const MAX_DETAIL = 2_000;

/** The message, with old and new value where it has none. */
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

/** The code of an error that contradicts a pin. */
export function contradictionOf(error: unknown): string | undefined {
  return isSigError(error) && CONTRADICTIONS.has(error.code)
    ? error.code
    : undefined;
}

/** An event that was ahead of the clock when it was read may be so no more. */
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
 * The warning that the history was inconsistent once. It goes before those of
 * events: an answer has few, and an issuer can cause any number.
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
