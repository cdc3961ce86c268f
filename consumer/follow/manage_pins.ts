/** Lists, acknowledges and removes pins (docs/reference/command-line.md). @module */

import { formatInstant, instantOf, isSigError, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import {
  contradictionOf,
  NOTHING_KNOWN,
  type Refresh,
} from "../memory/issuer_record.ts";
import {
  canonical,
  decodePin,
  type IssuerPin,
  type PinAcknowledgement,
  type PinIncident,
  PINS,
  type ProofPin,
  type SeenFeed,
  type SeenProof,
  type StoredPin,
} from "../memory/pin.ts";
import type { PinStore } from "../memory/sqlite_lines.ts";
import {
  type IssuerName,
  locateIssuer,
  type ProvenLocation,
} from "../read/source.ts";
import { listRecords } from "../store/record_store.ts";
import { fetchedKeys } from "./check_continuity.ts";
import { seenProof } from "./compare_proofs.ts";
import { ProofsOfFeed } from "./full_read.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import type { FeedPolicy } from "../verify/verified_feed.ts";
import {
  refreshRemembered,
  type RememberOptions,
} from "./refresh_remembered.ts";

/** A pin with its incidents, as `sig pin show` prints it. */
export interface PinRecord
  extends Omit<IssuerPin, "sequence" | "bytes" | "prefix_sha256" | "proof"> {
  /**
   * Sequence of the last event; null if only proofs were read, like `bytes` and
   * `prefix_sha256`.
   */
  readonly sequence: number | null;
  /** Size of the feed in bytes. */
  readonly bytes: number | null;
  /** SHA-256 of the feed, hexadecimal. */
  readonly prefix_sha256: string | null;
  /** The remembered proof; null if none was used. */
  readonly proof: ProofPin | null;
  /** Keys that first signed while no proof was remembered. */
  readonly key_added: readonly { readonly kid: string; readonly at: string }[];
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
  store: PinStore,
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
  store: PinStore,
  issuer: string,
): Promise<PinRecord> {
  const found = await store.get(PINS, issuer, ANY_TIME);
  if (found === undefined) {
    await store.lines?.requireForgotten(issuer);
    throw notRemembered(issuer);
  }
  return pinRecordOf(await decodePin(store.place, issuer, found.text));
}

/**
 * Removes an issuer from a store: it is then seen as if for the first time.
 *
 * @throws {SigError} `not_found`, `store_unavailable`.
 */
export async function removePin(
  store: PinStore,
  issuer: string,
): Promise<void> {
  const isRemoved = store.lines === undefined
    ? await store.take(PINS, issuer, ANY_TIME) !== undefined
    : await store.lines.remove(issuer);
  if (!isRemoved) throw notRemembered(issuer);
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
  /** Called before anything is written; an error cancels. */
  readonly confirm?: ((history: ServedHistory) => Promise<void>) | undefined;
}

/** The history to confirm. */
export interface ServedHistory {
  /** The pin as it was before the issuer was read. */
  readonly remembered: PinRecord;
  /** The feed served now. */
  readonly served: SeenFeed & {
    /** The sequence of the first event that differs; null if unknown. */
    readonly first_difference: number | null;
  };
}

/** The pin of an issuer compared with the feed served now. */
interface Comparison {
  /** The pin as it was before the issuer was read. */
  readonly pin: PinRecord;
  /** The code of the contradiction; null if the feed continues the pin. */
  readonly contradiction: string | null;
  /** The sequence of the first event that differs; null if unknown. */
  readonly firstDifference: number | null;
  /** The feed served now; null if it can't be read to its end. */
  readonly served: SeenFeed | null;
}

async function compare(
  store: PinStore,
  location: ProvenLocation,
  options: Omit<AcknowledgeOptions, "reason">,
): Promise<Comparison> {
  const did = location.expectedIssuer;
  const pin = await showPin(store, did);
  const { failure, record } = await readWhole(store, location, options);
  if (failure === undefined) {
    const { sequence, prefix_sha256: sha256 } = record.held!.pin;
    const served = { sequence, sha256, keys: pin.keys };
    return { pin, contradiction: null, firstDifference: null, served };
  }
  const { cause, seen } = failure;
  const contradiction = contradictionOf(cause);
  if (contradiction === undefined) throw cause;
  const { sequence = null } = (cause as SigError).context;
  return {
    pin,
    contradiction,
    firstDifference: sequence,
    served: seen === undefined || isOfProof(seen) ? null : seen,
  };
}

function isOfProof(seen: Seen | null | undefined): seen is SeenProof {
  return seen !== null && seen !== undefined && "root" in seen;
}

/** Fetches the issuer's current checkpoint and keys. */
async function shownProof(
  location: ProvenLocation,
  options: LoadIssuerOptions & { readonly now: Date },
): Promise<SeenProof> {
  const proofs = new ProofsOfFeed(location);
  const { keys } = await proofs.load(options);
  const { checkpoint } = proofs;
  return await seenProof({ keys: await fetchedKeys(keys), checkpoint });
}

type Seen = SeenFeed | SeenProof;

function isSame(a: Seen | null | undefined, b: typeof a): boolean {
  return !!a && !!b && canonical(a) === canonical(b);
}

/** Maximum number of acknowledgements that are kept. */
const MAX_ACKNOWLEDGED = 20;

/**
 * Accepts the history that an issuer serves now: verifies the whole feed, and
 * replaces the remembered history. Accepts only the feed that the incident
 * recorded, or the feed with the SHA-256 `expect`, because the issuer may serve
 * a different one since. The contradiction, the time and the reason are kept.
 *
 * @throws {SigError} `not_found` for an issuer that is not remembered,
 * `confirmation_required` for a history that was not recorded, and the errors
 * of verification: a faulty feed can't be accepted.
 */
export async function acknowledgePin(
  store: PinStore,
  issuer: string | IssuerName,
  { reason, expect, confirm, ...options }: AcknowledgeOptions,
): Promise<PinRecord> {
  const location = locateIssuer(issuer, options);
  const comparison = await compare(store, location, options);
  const { served, contradiction, pin: remembered } = comparison;
  const isExpected = contradiction === null ||
    (expect === undefined
      ? isSame(
        isOfProof(remembered.incident?.seen)
          ? await shownProof(location, options)
          : served,
        remembered.incident?.seen,
      )
      : expect.toLowerCase() === served?.sha256);
  if (served === null || !isExpected) throw notConfirmed(comparison, expect);
  const first_difference = comparison.firstDifference;
  await confirm?.({ remembered, served: { ...served, first_difference } });
  const at = formatInstant(instantOf(options.now));
  const code = contradiction ?? remembered.inconsistency;
  const { record } = await readWhole(store, location, {
    ...options,
    accept(before, found, changed) {
      if (before === undefined) throw notRemembered(location.expectedIssuer);
      const known = found.known!;
      if (known.pin.prefix_sha256 !== served.sha256) {
        throw notConfirmed(comparison, expect);
      }
      const { pin, key_added = [], rewritten_from } = before;
      const isSame = contradiction === null;
      const first = changed ?? first_difference ?? 1;
      const acknowledged = [...before.acknowledged, { at, reason, code }];
      return {
        ...found,
        known: {
          ...known,
          key_added,
          pin: isSame ? pin : { ...known.pin, first_seen: pin.first_seen },
          acknowledged: acknowledged.slice(-MAX_ACKNOWLEDGED),
          rewritten_from: isSame ? rewritten_from : [...rewritten_from, first],
        },
      };
    },
  });
  return pinRecordOf(record.known!);
}

/** Reads the whole feed, without the stored lines, which may be damaged. */
function readWhole(
  store: PinStore,
  location: ProvenLocation,
  options: RememberOptions,
): Promise<Refresh> {
  const read = { ...options, full: true };
  return refreshRemembered(store, location, NOTHING_KNOWN, read);
}

function notConfirmed(
  { served, contradiction, pin }: Comparison,
  expect: string | undefined,
): SigError {
  const seen = pin.incident?.seen;
  const recorded = isOfProof(seen) ? seen.root : seen?.sha256;
  const why = served === null
    ? "what is served now can't be read to its end"
    : expect !== undefined
    ? `the feed that is served now has the SHA-256 ${served.sha256}`
    : recorded === undefined
    ? "the history that is served now was not recorded before"
    : "the history that is served now differs from the recorded incident";
  return new SigError(
    "confirmation_required",
    `Cannot accept history: ${why}`,
    {
      context: {
        reason: contradiction ?? "feed_rewritten",
        ...(served === null ? {} : {
          served_sha256: served.sha256,
          served_sequence: served.sequence,
        }),
        ...(recorded === undefined ? {} : { recorded_sha256: recorded }),
        hint: served === null
          ? "Try again when the issuer's feed can be read."
          : `Ask the issuer. If this history is right, repeat with --expect ${served.sha256}`,
      },
    },
  );
}

function pinRecordOf(
  { pin, incident, last_contradiction, acknowledged, ...stored }: StoredPin,
): PinRecord {
  const { proof, ...read } = pin;
  const { last_seen = read.last_seen, ...shown } = proof ?? {};
  return {
    ...read,
    ...(stored.unread ? UNREAD : {}),
    last_seen: last_seen > read.last_seen ? last_seen : read.last_seen,
    incident,
    inconsistency: last_contradiction,
    acknowledged,
    proof: proof === undefined ? null : shown as ProofPin,
    key_added: stored.key_added ?? [],
  };
}

/** The null members of a pin whose feed was not read. */
const UNREAD = {
  sequence: null,
  bytes: null,
  prefix_sha256: null,
  last_event_id: null,
  etag: null,
  keys: {},
};

function notRemembered(issuer: string): SigError {
  return new SigError(
    "not_found",
    `Cannot find a pin: ${quote(issuer)} is not remembered`,
    {
      context: {
        issuer: issuer.slice(0, 200),
        hint: "See: sig pin list",
      },
    },
  );
}
