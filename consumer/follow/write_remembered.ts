/** Writing what a refresh came to into a store (PROTOCOL §6). @module */

import {
  type ErrorContext,
  formatInstant,
  instantOf,
  isSigError,
  type SigError,
  type Warning,
} from "@sig/core";
import { encodeBase64Url } from "@std/encoding/base64url";
import type { GrowthStep } from "../pins/feed_growth.ts";
import { storedInstant, writeDocuments } from "../pins/feed_rows.ts";
import type { PinEntry, PinRow, PinStore } from "../pins/pin_store.ts";
import { growListing } from "../pins/row_directory.ts";
import { DOCUMENTS_KEY } from "../pins/row_keys.ts";
import type { Sha256 } from "../pins/sha256.ts";
import type { StagedFeed } from "../pins/staged_feed.ts";
import {
  CONTRADICTIONS,
  type HeldFeed,
  type IssuerRecord,
  type Observation,
  type Refreshed,
} from "./issuer_record.ts";
import type { Refresh } from "./refresh_issuer.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import {
  type PinIncident,
  readBody,
  type RememberedBody,
} from "./remembered_body.ts";
import {
  policyOf,
  readMarks,
  type Remembered,
  type RememberOptions,
  type Resumed,
  storedOf,
  withoutState,
} from "./remembered_issuer.ts";

/**
 * Writes what came of a refresh.
 *
 * @returns What to answer from; undefined when the entry is another one by now.
 */
export async function writeRefresh(
  store: PinStore,
  found: Remembered | undefined,
  before: Resumed | undefined,
  refresh: Refresh,
  staged: StagedFeed,
  options: RememberOptions & Pick<RefreshOptions, "now"> & {
    readonly place: string;
  },
): Promise<Refresh | undefined> {
  const { record, outcome } = refresh;
  if (outcome.observation === undefined) {
    if (found === undefined) return refresh;
    return await noteFailure(store, found, refresh, outcome.error, options.now)
      ? { ...refresh, record: forget(record) }
      : undefined;
  }
  const held = record.held!;
  const feed = held.feed!;
  const isAnew = feed.verification !== before?.feed?.verification;
  const body: RememberedBody = {
    pin: held.pin,
    incident: null,
    acknowledged: found?.body.acknowledged ?? [],
    inconsistency: record.inconsistency ?? null,
    suspended: false,
    notices: noticesOf(outcome.observation),
    place: options.place,
    source: remoteSource(outcome.observation),
    feed: rememberedFeed(feed, options),
  };
  const steps = before?.growth.steps ?? [];
  const last = isAnew || found === undefined
    ? await putAnew(store, found, body, { held, staged })
    : await putOverLooks(store, found, body, {
      put: (found) => putGrown(store, found, body, { held, steps }),
      mayShare: true,
    });
  if (last === undefined) return undefined;
  const stored = storedOf(store, last, readBody(store, last));
  const observation: Observation = {
    ...outcome.observation,
    verified: withoutState(outcome.observation.verified),
    stored,
  };
  const allMarks = () => readMarks(stored);
  return {
    record: forget({ ...record, held: { ...held, observation, allMarks } }),
    outcome: { observation },
  };
}

/** The store has it: this process keeps what it answers from. */
function forget(record: IssuerRecord): IssuerRecord {
  const { held } = record;
  if (held === undefined) return record;
  return {
    ...record,
    held: { ...held, feed: undefined, documents: new Map() },
  };
}

/** What is needed to go on with a feed. */
export function rememberedFeed(
  feed: HeldFeed,
  options: RememberOptions,
): RememberedBody["feed"] {
  const { replay, keys } = feed.verification.checkpoint();
  return {
    hash: (feed.digest!.hash as Sha256).save(),
    overlap: encodeBase64Url(feed.overlap),
    ref: feed.ref,
    public_only: feed.publicOnly,
    policy: policyOf(options),
    compared_at: feed.comparedAt.toISOString(),
    latest: replay.latest === undefined ? null : storedInstant(replay.latest),
    keys,
    warnings: replay.warnings.length,
    warnings_left_out: replay.warningsLeftOut,
    served_warnings: feed.warnings,
  };
}

/** What answers from the store call their source. */
export function remoteSource({ verified }: Observation): "https" | "http" {
  return verified.source === "http" ? "http" : "https";
}

/** What is odd, but for events and the history: those are told anew. */
export function noticesOf({ verified }: Observation): readonly Warning[] {
  const ofFeed = new Set(verified.feed.warnings);
  return verified.warnings.filter((warning) =>
    !ofFeed.has(warning) && warning.code !== "history_was_inconsistent"
  );
}

/**
 * Writes the entry of a feed that was read from its start, whose rows take the
 * place of all others.
 *
 * @throws {StateMoved} where another process was faster.
 */
export async function putAnew(
  store: PinStore,
  found: Remembered | undefined,
  body: RememberedBody,
  { held, staged }: {
    readonly held: Refreshed;
    readonly staged: StagedFeed;
  },
): Promise<PinEntry | undefined> {
  const end = held.feed!.verification.checkpoint();
  const { state, listed } = await staged.finish(end, [documentsOf(held)]);
  const text = JSON.stringify({
    ...body,
    feed: { ...body.feed, rows: listed },
  });
  const put = async (before?: Remembered) => {
    const entry: PinEntry = {
      issuer: body.pin.issuer,
      revision: (before?.entry.revision ?? 0) + 1,
      state,
      body: text,
    };
    const isWritten = await store.put(entry, [], before?.entry.state);
    return isWritten ? entry : undefined;
  };
  const last = found === undefined
    ? await put()
    : await putOverLooks(store, found, body, { put, mayShare: false });
  if (last !== undefined) staged.keep();
  return last;
}

/** How many others may have looked at an issuer while it is written. */
const MAX_LOOKS = 32;

/**
 * Writes over the entry that was read, or over the same one which others have
 * only looked at meanwhile: else whoever asks a slow issuer would never come to
 * an end, as long as others ask it all the time.
 *
 * @returns Undefined when the entry says something else by now.
 */
async function putOverLooks(
  store: PinStore,
  found: Remembered,
  body: RememberedBody,
  { put, mayShare }: {
    readonly put: (found: Remembered) => Promise<PinEntry | undefined>;
    /** What another process has written of the same serves as well. */
    readonly mayShare: boolean;
  },
): Promise<PinEntry | undefined> {
  const before = whatLasts(found.body);
  const after = whatLasts(body);
  let { entry } = found;
  for (let look = 0; look < MAX_LOOKS; look++) {
    const written = await put({ ...found, entry });
    if (written !== undefined) return written;
    const now = await store.get(entry.issuer);
    if (now?.state !== entry.state || now.revision === entry.revision) break;
    const theirs = whatLasts(readBody(store, now));
    if (theirs === after && mayShare) return now;
    if (theirs !== before && theirs !== after) break;
    entry = now;
  }
  return undefined;
}

/** What an entry says, but for when and how the issuer was last looked at. */
function whatLasts(
  { pin, feed: { policy, public_only }, ...body }: RememberedBody,
): string {
  const { etag: _etag, last_seen: _lastSeen, ...history } = pin;
  const { incident, acknowledged, inconsistency, suspended, place } = body;
  return JSON.stringify([
    ...[history, policy, public_only, place],
    ...[incident, acknowledged, inconsistency, suspended],
  ]);
}

/** Writes what a feed has more, in steps that each leave a pin that holds. */
async function putGrown(
  store: PinStore,
  found: Remembered,
  body: RememberedBody,
  { held, steps }: {
    readonly held: Refreshed;
    readonly steps: readonly GrowthStep[];
  },
): Promise<PinEntry | undefined> {
  const { issuer } = body.pin;
  let { revision } = found.entry;
  const entryOf = (state: string, body: RememberedBody): PinEntry => ({
    issuer,
    revision: ++revision,
    state,
    body: JSON.stringify(body),
  });
  const { state } = found.entry;
  let { listed } = found.stored;
  /** Rows with what they change in the listing of all. */
  const list = async (rows: readonly PinRow[]) => {
    const ref = { issuer, state };
    const grown = await growListing({ store, ref, listed }, rows);
    listed = grown.listed;
    return [...rows, ...grown.rows];
  };
  // All but the last: the feed up to there was verified as a part of the whole.
  for (const { end, rows, ...part } of steps.slice(0, -1)) {
    const listedRows = await list(rows);
    const { replay, keys, bytes, lastEventId } = end;
    const kids = new Set(keys.map(({ kid }) => kid));
    const partial: RememberedBody = {
      ...body,
      pin: {
        ...body.pin,
        sequence: replay.lastSequence,
        bytes,
        prefix_sha256: part.sha256,
        last_event_id: lastEventId,
        keys: Object.fromEntries(
          Object.entries(body.pin.keys).filter(([kid]) => kids.has(kid)),
        ),
        etag: null,
        // The end was not written yet: nobody may take this for what the
        // issuer said just now.
        last_seen: found.body.pin.last_seen,
      },
      feed: {
        ...body.feed,
        hash: part.hash,
        overlap: encodeBase64Url(part.overlap),
        latest: storedInstant(replay.latest!),
        keys,
        warnings: replay.warnings.length,
        warnings_left_out: replay.warningsLeftOut,
        rows: listed,
      },
    };
    const isWritten = await store.put(
      entryOf(state, partial),
      listedRows,
      state,
    );
    if (!isWritten) return undefined;
  }
  const rows = [...await list(steps.at(-1)?.rows ?? []), documentsOf(held)];
  const feed = { ...body.feed, rows: listed };
  const entry = entryOf(state, { ...body, feed });
  return await store.put(entry, rows, state) ? entry : undefined;
}

function documentsOf({ documents }: Refreshed): PinRow {
  return [DOCUMENTS_KEY, writeDocuments(documents)];
}

/** Whether it is noted, or was noted before. */
async function noteFailure(
  store: PinStore,
  { entry, body }: Remembered,
  { record }: Refresh,
  error: unknown,
  now: Date,
): Promise<boolean> {
  const code = isSigError(error) && CONTRADICTIONS.has(error.code)
    ? error.code
    : undefined;
  const incident = code === undefined
    ? body.incident
    : incidentOf(code, error as SigError, body.incident, now);
  const isKnown = JSON.stringify(incident) === JSON.stringify(body.incident) &&
    record.isSuspended === (body.suspended || body.incident !== null);
  if (isKnown) {
    // What was verified against an older view may be wrong by now.
    return isThere(entry, await store.get(entry.issuer));
  }
  const after: RememberedBody = {
    ...body,
    incident,
    inconsistency: record.inconsistency ?? null,
    suspended: record.isSuspended,
  };
  const next = { ...entry, revision: entry.revision + 1 };
  return await store.put(
    { ...next, body: JSON.stringify(after) },
    [],
    entry.state,
  );
}

/** Revisions begin anew with another state. */
function isThere(entry: PinEntry, now: PinEntry | undefined): boolean {
  return now?.revision === entry.revision && now.state === entry.state;
}

function incidentOf(
  code: string,
  { message, context }: SigError,
  before: PinIncident | null,
  now: Date,
): PinIncident {
  const values = valuesOf(context);
  if (before?.code !== code) {
    const since = formatInstant(instantOf(now));
    return { code, since, detail: message + values };
  }
  // The same bytes again, and this time nobody could tell the place.
  const saysLess = code === "feed_rewritten" &&
    context.sequence === undefined && before.detail.endsWith(values);
  return saysLess ? before : { ...before, detail: message + values };
}

/** Old and new value, where the message has none. */
function valuesOf(context: ErrorContext): string {
  const { remembered_thumbprint: oldKey, published_thumbprint: newKey } =
    context;
  const { remembered_sha256: oldBytes, fetched_sha256: newBytes } = context;
  if (newKey !== undefined) return `: was ${oldKey}, is ${newKey}`;
  return newBytes === undefined
    ? ""
    : `: the SHA-256 up to there was ${oldBytes}, is ${newBytes}`;
}
