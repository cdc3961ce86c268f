/**
 * Lists, shows, removes and acknowledges pins (docs/reference/command-line.md).
 *
 * In: a store and the name of an issuer. Out: a `PinRecord`, the form in which
 * `sig pin` prints a pin. Only `acknowledgePin` reads the issuer: once compared
 * with the pin, which records a contradiction, and once as if it was unknown,
 * since a history that contradicts is not verified to its end.
 *
 * @module
 */

import { isSigError, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { encodeBase64 } from "@sig/jose/proofs";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { PinKeeper } from "../memory/keeper.ts";
import { Mirror } from "../memory/mirror.ts";
import {
  type KeyAdded,
  type KnownPin,
  type PinAcknowledgement,
  type PinIncident,
  type PinnedFeed,
  type PinnedProof,
  type PinnedRecovery,
  type Seen,
  type SeenFeed,
  type Served,
  UNKNOWN,
} from "../memory/pin.ts";
import { decodePin, PINS } from "../memory/pin_record.ts";
import { acknowledge } from "../memory/transitions.ts";
import { fetchedKeys, servedKeys } from "../memory/compare.ts";
import { type IssuerName, locateIssuer } from "../read/source.ts";
import { listRecords, type RecordStore } from "../store/record_store.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import type { FeedPolicy } from "../verify/verified_feed.ts";
import { refreshIssuer } from "./refresh_issuer.ts";
import { FollowedIssuer, type ValidFeed } from "./reading.ts";
import { readFeed } from "./refresh.ts";

/** A type whose members can be null. */
export type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

/**
 * A pin with its incident, as `sig pin show` prints it. The members of the feed
 * are null if only proofs were read.
 */
export interface PinRecord
  extends Nullable<Omit<PinnedFeed, "keys" | "compared_at" | "read_at">> {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The keys that signed events, by kid; empty if only proofs were read. */
  readonly keys: PinnedFeed["keys"];
  /** When the issuer was first seen (RFC 3339). */
  readonly first_seen: string;
  /** When the issuer was last seen (RFC 3339). */
  readonly last_seen: string;
  /** The remembered proof; null if none was used. `seen` counts the events. */
  readonly proof: Omit<PinnedProof, "seen"> & { readonly seen: number } | null;
  /** What was seen with proofs: all events and the root of their tree. */
  readonly seen: Seen | null;
  /** The remembered recovery key; null if none is published. */
  readonly recovery: PinnedRecovery | null;
  /** Keys that first signed while no proof was remembered. */
  readonly key_added: readonly KeyAdded[];
  /** The unresolved contradiction; null if there is none. */
  readonly incident: PinIncident | null;
  /**
   * The code of the last unacknowledged contradiction, resolved or not, which
   * causes the warning `history_was_inconsistent`; null if there is none.
   */
  readonly inconsistency: string | null;
  /** Acceptances of different histories. */
  readonly acknowledged: readonly PinAcknowledgement[];
}

/** Pins do not expire, so the time is irrelevant. */
const ANY_TIME = new Date(0);

/**
 * Returns all pins of a store, sorted by DID.
 *
 * @param onDamaged Called for each damaged pin, which is then skipped. Without
 * it, the first damaged pin is an error.
 * @throws {SigError} `store_unavailable`.
 */
export async function listPins(
  store: RecordStore,
  onDamaged?: (issuer: string, error: SigError) => void,
): Promise<readonly PinRecord[]> {
  const found = new Map<string, PinRecord>();
  for await (const { id, text } of listRecords(store, PINS, ANY_TIME)) {
    try {
      found.set(id, pinRecordOf(await decodePin(store.place, id, text)));
    } catch (error) {
      if (onDamaged === undefined || !isSigError(error)) throw error;
      onDamaged(id, error);
    }
  }
  return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([, pin]) => pin);
}

/**
 * Returns the pin of an issuer.
 *
 * @throws {SigError} `not_found`, `store_unavailable`.
 */
export async function showPin(
  store: RecordStore,
  issuer: string,
): Promise<PinRecord> {
  return pinRecordOf(
    await requirePin(new PinKeeper(issuer, { store }), issuer),
  );
}

async function requirePin(
  keeper: PinKeeper,
  issuer: string,
): Promise<KnownPin> {
  const { pin } = await keeper.read(ANY_TIME);
  if (pin.status === "unknown") throw notRemembered(issuer);
  return pin;
}

/**
 * Removes an issuer from a store: it is then seen as if for the first time.
 *
 * @throws {SigError} `not_found`, `store_unavailable`.
 */
export async function removePin(
  store: RecordStore,
  issuer: string,
  { mirrorFolder }: Pick<AcknowledgeOptions, "mirrorFolder"> = {},
): Promise<void> {
  const removed = await store.take(PINS, issuer, ANY_TIME);
  if (mirrorFolder !== undefined) {
    const { metadataRef } = locateIssuer(issuer, { allowPrivate: true });
    await Mirror.remove(mirrorFolder, metadataRef);
  }
  if (removed === undefined) throw notRemembered(issuer);
}

/** Options of {@linkcode acknowledgePin}. */
export interface AcknowledgeOptions
  extends FeedPolicy, LoadIssuerOptions, FetchPolicy {
  /** The clock. */
  readonly now: Date;
  /** The reason to record; not empty. */
  readonly reason: string;
  /**
   * SHA-256 of the feed to accept, if it is not the one that the incident
   * recorded.
   */
  readonly expect?: string | undefined;
  /** As in `ConsumerOptions`; tells which event is the first that differs. */
  readonly mirrorFolder?: string | undefined;
  /** Called before anything is written; an error cancels. */
  readonly confirm?: ((history: ServedHistory) => Promise<void>) | undefined;
}

/** The history to confirm. */
export interface ServedHistory {
  /** The pin as it was before the issuer was read. */
  readonly remembered: PinRecord;
  /** The feed served now. */
  readonly served: Omit<SeenFeed, "keys" | "statements"> & {
    /** The keys that signed its events, by kid. */
    readonly keys: PinnedFeed["keys"];
    /** The sequence of the first event that differs; null if unknown. */
    readonly first_difference: number | null;
  };
}

/** Returns whether a feed is exactly what an incident saw. */
function isRecorded(
  { copy: { sha256, events }, copy, proof }: ValidFeed,
  seen: Served | null,
): boolean {
  const { keys, statements } = servedKeys(fetchedKeys(copy));
  if (seen?.keys !== keys || seen.statements !== statements) return false;
  if ("sha256" in seen) {
    return seen.sha256 === sha256 && seen.sequence === events;
  }
  const root = copy.verification.tree?.lines.root();
  if (root === undefined || seen.root !== encodeBase64(root)) return false;
  // The state of the checkpoint was confirmed by the feed.
  return seen.state === null ||
    (proof?.size === events && proof.state === seen.state);
}

/**
 * Accepts the history that an issuer serves now: verifies the whole feed, and
 * replaces the remembered history. Accepts only the history that the incident
 * recorded, or the feed with the SHA-256 `expect`, because the issuer may serve
 * a different one since. The contradiction, the time and the reason are kept.
 *
 * @throws {SigError} `not_found` for an issuer that is not remembered,
 * `confirmation_required` for a history that was not recorded, and the errors
 * of verification: a faulty feed can't be accepted.
 */
export async function acknowledgePin(
  store: RecordStore,
  issuer: string | IssuerName,
  { reason, expect, confirm, ...options }: AcknowledgeOptions,
): Promise<PinRecord> {
  const location = locateIssuer(issuer, options);
  const did = location.expectedIssuer;
  const keeper = new PinKeeper(did, { store });
  const pin = await requirePin(keeper, did);
  const followed = new FollowedIssuer(location, keeper);
  // Reads the whole feed, and records a contradiction.
  const error = await refreshIssuer(followed, { ...options, full: true })
    .then(() => undefined, (error) => {
      if (isSigError(error) && error.category === "conflict") return error;
      throw error;
    });
  // Reads it again as if the issuer was unknown.
  const { found: served } = await readFeed(location, { pin: UNKNOWN }, {
    ...options,
    mirrorFolder: undefined,
  });
  if (served.kind !== "feed") throw served.error;
  const { sequence, prefix_sha256: sha256, keys } = served.feed;
  const seen = pin.status === "contradicted" ? pin.incident.seen : null;
  const isExpected = error === undefined ||
    (expect === undefined
      ? isRecorded(served, seen)
      : expect.toLowerCase() === sha256);
  if (!isExpected) throw notConfirmed(error.code, seen, served, expect);
  const { sequence: differing } = error?.context ?? {};
  const first = typeof differing === "number" ? differing : null;
  await confirm?.({
    remembered: pinRecordOf(pin),
    served: { sequence, sha256, keys, first_difference: first },
  });
  const code = error?.code ?? pin.inconsistency;
  const changedFrom = error === undefined ? null : first ?? 1;
  const accepted = await keeper.repeat(async () => {
    const before = await keeper.read(options.now);
    if (before.pin.status === "unknown") throw notRemembered(pin.issuer);
    const history = { ...served, reason, code, changedFrom };
    const after = acknowledge(before.pin, history);
    return await keeper.write(before, after, options.now);
  });
  return pinRecordOf(accepted.pin.status === "unknown" ? pin : accepted.pin);
}

function notConfirmed(
  code: string,
  seen: Served | null,
  { feed: { sequence, prefix_sha256: sha256 } }: ValidFeed,
  expect: string | undefined,
): SigError {
  const recorded = seen === null
    ? null
    : "sha256" in seen
    ? seen.sha256
    : seen.root;
  const why = expect !== undefined
    ? `the feed that is served now has the SHA-256 ${sha256}`
    : recorded === null
    ? "the history that is served now was not recorded before"
    : "the history that is served now differs from the recorded incident";
  return new SigError("confirmation_required", {
    action: "accept history",
    reason: why,
    context: {
      reason: code,
      served_sha256: sha256,
      served_sequence: sequence,
      ...(recorded === null ? {} : { recorded_sha256: recorded }),
      hint:
        `Ask the issuer. If this history is right, repeat with --expect ${sha256}`,
    },
  });
}

function pinRecordOf(pin: KnownPin): PinRecord {
  const { feed, proof, issuer, first_seen, last_seen } = pin;
  const { recovery, key_added, inconsistency, acknowledged } = pin;
  return {
    issuer,
    sequence: feed?.sequence ?? null,
    bytes: feed?.bytes ?? null,
    prefix_sha256: feed?.prefix_sha256 ?? null,
    last_event_id: feed?.last_event_id ?? null,
    keys: feed?.keys ?? {},
    etag: feed?.etag ?? null,
    ...{ first_seen, last_seen },
    incident: pin.status === "contradicted" ? pin.incident : null,
    ...{ inconsistency, acknowledged },
    proof: proof && { ...proof, seen: proof.seen.size },
    ...{ recovery, key_added },
    seen: proof?.seen ?? null,
  };
}

function notRemembered(issuer: string): SigError {
  return new SigError("not_found", {
    action: "find a pin",
    reason: `${quote(issuer)} is not remembered`,
    context: {
      issuer: issuer.slice(0, 200),
      hint: "See: sig pin list",
    },
  });
}
