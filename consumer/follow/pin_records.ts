/** What people do with what is remembered (INTERFACES §2c). @module */

import {
  formatInstant,
  instantOf,
  isSigError,
  quote,
  SigError,
} from "@sig/core";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import {
  type IssuerName,
  locateIssuer,
  type ProvenLocation,
} from "../read/source.ts";
import type { IssuerPin } from "../pins/issuer_pin.ts";
import {
  CURSOR_PREFIX,
  type PinStore,
  pinStoreUnavailable,
  StateMoved,
} from "../pins/pin_store.ts";
import { StagedFeed } from "../pins/staged_feed.ts";
import { CONTRADICTIONS } from "./issuer_record.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import type { FeedPolicy } from "../verify/verified_feed.ts";
import {
  type PinAcknowledgement,
  type PinIncident,
  readBody,
  type RememberedBody,
} from "./remembered_body.ts";
import { findRemembered, type Remembered } from "./remembered_issuer.ts";
import {
  dropStaged,
  readStaged,
  refreshRemembered,
} from "./refresh_remembered.ts";
import {
  noticesOf,
  putAnew,
  rememberedFeed,
  remoteSource,
} from "./write_remembered.ts";

/** A pin with what happened to it, as `sig pin show` prints it. */
export interface PinRecord extends IssuerPin {
  /** The contradiction that lasts; null where there is none. */
  readonly incident: PinIncident | null;
  /**
   * The last contradiction that nobody has accepted, over or not: why answers
   * warn of `history_was_inconsistent`. Null where there is none.
   */
  readonly inconsistency: string | null;
  /** Which histories were accepted, and why. */
  readonly acknowledged: readonly PinAcknowledgement[];
}

/**
 * Every pin of a store, by the issuers' DIDs.
 *
 * @param onDamaged Told of a pin that can't be read; the others are listed all
 * the same. Without it the first one is thrown.
 * @throws {SigError} `store_unavailable`.
 */
export async function listPins(
  store: PinStore,
  onDamaged?: (issuer: string, error: SigError) => void,
): Promise<readonly PinRecord[]> {
  const entries = await store.list();
  return entries.filter(({ issuer }) => !issuer.startsWith(CURSOR_PREFIX))
    .flatMap((entry) => {
      try {
        return [recordOfBody(readBody(store, entry))];
      } catch (error) {
        if (onDamaged === undefined || !isSigError(error)) throw error;
        onDamaged(entry.issuer, error);
        return [];
      }
    });
}

/**
 * The pin of an issuer.
 *
 * @throws {SigError} `not_found`, `store_unavailable`.
 */
export async function showPin(
  store: PinStore,
  issuer: string,
): Promise<PinRecord> {
  const found = await findRemembered(store, issuer);
  if (found === undefined) throw notRemembered(issuer);
  return recordOfBody(found.body);
}

/**
 * Forgets an issuer; the next look is a first one.
 *
 * @throws {SigError} `not_found`, `store_unavailable`.
 */
export async function removePin(
  store: PinStore,
  issuer: string,
): Promise<void> {
  if (!await store.remove(issuer)) throw notRemembered(issuer);
}

/** Options of {@linkcode acknowledgePin}. */
export interface AcknowledgeOptions
  extends FeedPolicy, LoadIssuerOptions, FetchPolicy {
  /** The clock. */
  readonly now: Date;
  /** Why, for those who look later; not empty. */
  readonly reason: string;
}

/** How often another process may be faster. */
const MAX_ATTEMPTS = 5;

/**
 * Accepts the history that an issuer serves now: it is verified as a whole, and
 * takes the place of the remembered one. What contradicted that, when and why it
 * was accepted, is kept.
 *
 * @throws {SigError} `not_found` for an issuer that is not remembered, and what
 * verifying it can run into: a faulty feed can't be accepted.
 */
export async function acknowledgePin(
  store: PinStore,
  issuer: string | IssuerName,
  { reason, ...options }: AcknowledgeOptions,
): Promise<PinRecord> {
  const location = locateIssuer(issuer, options);
  const did = location.expectedIssuer;
  if (await findRemembered(store, did) === undefined) throw notRemembered(did);
  // First as always: whether anything contradicts, and what.
  const { outcome } = await refreshRemembered(store, location, {
    ...options,
    report: false,
  });
  if (outcome.observation === undefined && !contradicts(outcome.error)) {
    throw outcome.error;
  }
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await findRemembered(store, did);
    if (found === undefined) throw notRemembered(did);
    const { entry, body } = found;
    const code = body.incident?.code ?? body.inconsistency;
    const at = formatInstant(instantOf(options.now));
    const accepted: Partial<RememberedBody> = {
      incident: null,
      inconsistency: null,
      acknowledged: [...body.acknowledged, { at, reason, code }],
    };
    if (body.incident === null) {
      const after = { ...body, ...accepted };
      const next = { ...entry, revision: entry.revision + 1 };
      const isWritten = await store.put(
        { ...next, body: JSON.stringify(after) },
        [],
        entry.state,
      );
      if (isWritten) return recordOfBody(after);
      continue;
    }
    const after = await acceptAnew(store, found, location, {
      ...options,
      accepted,
    });
    if (after !== undefined) return recordOfBody(after);
  }
  throw pinStoreUnavailable(store.place, "other processes keep changing it");
}

/** Undefined where another process was faster. */
async function acceptAnew(
  store: PinStore,
  found: Remembered,
  location: ProvenLocation,
  { accepted, ...options }: Omit<AcknowledgeOptions, "reason"> & {
    readonly accepted: Partial<RememberedBody>;
  },
): Promise<RememberedBody | undefined> {
  const staged = new StagedFeed(store, location.expectedIssuer);
  try {
    const { record, outcome } = await readStaged(location, options, staged);
    if (outcome.observation === undefined) throw outcome.error;
    const held = record.held!;
    const after: RememberedBody = {
      ...found.body,
      ...accepted,
      pin: { ...held.pin, first_seen: found.body.pin.first_seen },
      suspended: false,
      notices: noticesOf(outcome.observation),
      place: location.metadataRef,
      source: remoteSource(outcome.observation),
      feed: rememberedFeed(held.feed!, options),
    };
    return await putAnew(store, found, after, { held, staged })
      ? after
      : undefined;
  } catch (error) {
    if (error instanceof StateMoved) return undefined;
    throw error;
  } finally {
    await dropStaged(staged);
  }
}

function recordOfBody(
  { pin, incident, inconsistency, acknowledged }: RememberedBody,
): PinRecord {
  return { ...pin, incident, inconsistency, acknowledged };
}

function contradicts(error: unknown): boolean {
  return isSigError(error) && CONTRADICTIONS.has(error.code);
}

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
