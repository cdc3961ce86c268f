/** An issuer as a store remembers it: read, refreshed, written (PROTOCOL §6). @module */

import { formatInstant, instantOf, isSigError, type Warning } from "@sig/core";
import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";
import type { HeldDocuments } from "../read/conditional_reader.ts";
import type { ProvenLocation } from "../read/locate_issuer.ts";
import { FeedDigest } from "../verify/feed_digest.ts";
import {
  FeedVerification,
  type VerificationStart,
} from "../verify/feed_verification.ts";
import { SignatureMarks } from "../verify/signature_marks.ts";
import type { VerifiedEvent } from "../verify/verified_feed.ts";
import { EventDigests, FeedGrowth, wholeRows } from "../pins/feed_growth.ts";
import {
  instantOfStored,
  readDocuments,
  storedInstant,
  writeDocuments,
} from "../pins/feed_rows.ts";
import { reducePin } from "../pins/issuer_pin.ts";
import {
  damaged,
  type PinEntry,
  type PinRow,
  type PinStore,
  pinStoreUnavailable,
} from "../pins/pin_store.ts";
import { BLOCK_PREFIX, DOCUMENTS_KEY } from "../pins/row_keys.ts";
import { Sha256 } from "../pins/sha256.ts";
import { StoredHistory } from "../pins/stored_history.ts";
import {
  readText,
  readWarnings,
  type StoredState,
} from "../pins/stored_state.ts";
import type { StoredBlock } from "../pins/feed_rows.ts";
import {
  CONTRADICTIONS,
  type HeldFeed,
  type IssuerRecord,
  type Observation,
  recordOf,
  type Refreshed,
} from "./issuer_record.ts";
import {
  inconsistencyWarning,
  type Refresh,
  refreshIssuer,
} from "./refresh_issuer.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import { readBody, type RememberedBody } from "./remembered_body.ts";

/** How often another process may be faster before we give up. */
const MAX_ATTEMPTS = 8;

/** Rows staged at once. */
const STAGED_ROWS = 2_000;

/** An issuer as the store has it. */
interface Remembered {
  readonly entry: PinEntry;
  readonly body: RememberedBody;
  readonly stored: StoredState;
}

/** What a refresh from memory is told. */
export type RememberOptions = Omit<RefreshOptions, "now" | "report"> & {
  /** Verify everything again. */
  readonly full?: boolean | undefined;
  /** The pin must be there already. */
  readonly requirePin?: boolean | undefined;
};

/** What the store has of an issuer. */
export async function findRemembered(
  store: PinStore,
  issuer: string,
): Promise<Remembered | undefined> {
  const entry = await store.get(issuer);
  if (entry === undefined) return undefined;
  const body = readBody(store, entry);
  const stored = storedOf(store, entry, body);
  return { entry, body, stored };
}

function storedOf(
  store: PinStore,
  { issuer, state }: PinEntry,
  { pin, feed }: RememberedBody,
): StoredState {
  return {
    store,
    ref: { issuer, state },
    lastSequence: pin.sequence,
    hasWarnings: feed.warnings > 0,
  };
}

/**
 * The record of an issuer that others have verified: enough to answer from
 * while it is young enough, without asking anybody. Undefined where the store
 * knows nothing, or nothing that may be answered from.
 */
export async function recallIssuer(
  store: PinStore,
  issuer: string,
  options: RememberOptions,
): Promise<IssuerRecord | undefined> {
  const found = await findRemembered(store, issuer);
  if (found === undefined) return undefined;
  const { body, stored } = found;
  if (body.suspended || body.incident !== null) return undefined;
  if (body.feed.policy !== policyOf(options)) return undefined;
  const warnings = (await readWarnings(stored, new StoredHistory()))
    .map(({ warning }) => warning);
  return { ...recordOf(), ...await heldOf(found, warnings, undefined) };
}

/** Asks an issuer, given what the store has of it, and writes what came of it. */
export async function refreshRemembered(
  store: PinStore,
  location: ProvenLocation,
  options: RememberOptions & Pick<RefreshOptions, "now" | "report">,
): Promise<Refresh> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await findRemembered(store, location.expectedIssuer);
    if (found === undefined && options.requirePin) {
      throw pinMissing(store, location.expectedIssuer);
    }
    const before = found && await resume(found, options);
    const digests = new EventDigests();
    const refresh = await refreshIssuer(
      location,
      before?.record ?? recordOf(),
      {
        ...options,
        createDigest: () => new FeedDigest(0, new Sha256()),
        onEvent: (verified: VerifiedEvent) => {
          before?.growth.note(verified.event);
          digests.note(verified.event);
          options.onEvent?.(verified);
        },
      },
    );
    const written = await write(
      store,
      found,
      before,
      refresh,
      digests,
      options,
    );
    if (written !== undefined) return written;
    // Another process was faster: what it has seen counts as well.
  }
  throw pinStoreUnavailable(store.place, "other processes keep changing it");
}

/** The record to go on from, and what collects how the feed grows. */
interface Resumed {
  readonly record: IssuerRecord;
  readonly feed: HeldFeed | undefined;
  readonly growth: FeedGrowth;
}

async function resume(
  found: Remembered,
  options: RememberOptions,
): Promise<Resumed> {
  const { body, stored } = found;
  const { feed, pin } = body;
  const history = new StoredHistory();
  const warnings = (await readWarnings(stored, history))
    .map(({ warning }) => warning);
  const marks = new SignatureMarks();
  const growth = new FeedGrowth(stored, history, marks, warnings.length);
  const start: VerificationStart = {
    bytes: pin.bytes,
    lastEventId: pin.last_event_id,
    keys: feed.keys,
    replay: {
      lastSequence: pin.sequence,
      latest: feed.latest === null ? undefined : instantOfStored(feed.latest),
      history,
      warnings,
      warningsLeftOut: feed.warnings_left_out,
    },
  };
  const hash = Sha256.load(feed.hash);
  if (hash === undefined) {
    throw damaged(stored.store.place, `the pin of ${pin.issuer}`);
  }
  const held: HeldFeed = {
    verification: new FeedVerification({
      issuer: pin.issuer,
      publicOnly: feed.public_only,
      limits: options.limits,
      unknownEvents: options.unknownEvents,
      unmatchedRevoke: options.unmatchedRevoke,
      marks,
      start,
    }),
    digest: new FeedDigest(0, hash),
    marks,
    allMarks: () => readMarks(stored),
    growth,
    overlap: decodeBase64Url(feed.overlap),
    ref: feed.ref,
    publicOnly: feed.public_only,
    warnings: feed.served_warnings,
    comparedAt: new Date(feed.compared_at),
  };
  // Other rules, or everything on request: then all events are judged again.
  const mayGoOn = !options.full && feed.policy === policyOf(options);
  const base = await heldOf(found, warnings, mayGoOn ? held : undefined);
  const documents = mayGoOn ? await readHeldDocuments(stored) : new Map();
  return {
    feed: mayGoOn ? held : undefined,
    growth,
    record: {
      ...recordOf(),
      ...base,
      held: { ...base.held, documents },
      isSuspended: body.suspended || body.incident !== null,
    },
  };
}

/** What answers without asking, and what a refresh goes on from. */
async function heldOf(
  { body, stored }: Remembered,
  feedWarnings: readonly Warning[],
  feed: HeldFeed | undefined,
): Promise<Pick<IssuerRecord, "pin" | "inconsistency"> & { held: Refreshed }> {
  const { pin, notices, inconsistency } = body;
  const state = {
    issuer: pin.issuer,
    last_sequence: pin.sequence,
    by_relationship_id: new Map(),
    history: new StoredHistory(),
  };
  const observation: Observation = {
    observedAt: new Date(pin.last_seen),
    observedAtText: pin.last_seen,
    continuity: pin.first_seen === pin.last_seen ? "first_seen" : "consistent",
    stored,
    verified: {
      issuer: pin.issuer,
      source: "https",
      state,
      feed: {
        state,
        verifiedEvents: pin.sequence,
        bytes: pin.bytes,
        sha256: pin.prefix_sha256,
        keys: body.feed.keys,
        warnings: feedWarnings,
        faults: [],
      },
      warnings: [
        ...notices,
        ...feedWarnings,
        ...inconsistencyWarning(inconsistency ?? undefined),
      ],
    },
  };
  return {
    pin,
    inconsistency: inconsistency ?? undefined,
    held: {
      observation,
      pin,
      reduced: await reducePin(pin),
      feed,
      documents: new Map(),
    },
  };
}

async function readHeldDocuments(stored: StoredState): Promise<HeldDocuments> {
  const [text] = await stored.store.rows(stored.ref, [DOCUMENTS_KEY]);
  if (text === undefined) return new Map();
  readText(stored, text, "a document");
  return readDocuments(text);
}

async function readMarks(stored: StoredState): Promise<SignatureMarks> {
  const blocks: [string, StoredBlock][] = [];
  for await (const [key, text] of stored.store.all(stored.ref, BLOCK_PREFIX)) {
    blocks.push([
      key,
      readText<StoredBlock>(stored, text, "a block of events"),
    ]);
  }
  blocks.sort(([a], [b]) => a < b ? -1 : 1);
  const marks = new SignatureMarks();
  for (const [, block] of blocks) marks.addMarks(block.marks);
  return marks;
}

/** The rules of a reader that decide what a feed says. */
function policyOf({ unknownEvents, unmatchedRevoke }: RememberOptions): string {
  return `${unknownEvents ?? "reject"} ${unmatchedRevoke ?? "ignore"}`;
}

/**
 * Writes what came of a refresh.
 *
 * @returns What to answer from; undefined when the entry is another one by now.
 */
async function write(
  store: PinStore,
  found: Remembered | undefined,
  before: Resumed | undefined,
  refresh: Refresh,
  digests: EventDigests,
  options: RememberOptions & Pick<RefreshOptions, "now">,
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
    feed: rememberedFeed(feed, options),
  };
  const last = await putAll(store, found, body, {
    isAnew,
    held,
    steps: before?.growth.steps ?? [],
    digests,
  });
  if (last === undefined) return undefined;
  const observation: Observation = {
    ...outcome.observation,
    stored: storedOf(store, last, body),
  };
  return {
    record: forget({ ...record, held: { ...held, observation } }),
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

function rememberedFeed(
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

/** What is odd, but for events and the history: those are told anew. */
function noticesOf({ verified }: Observation): readonly Warning[] {
  const ofFeed = new Set(verified.feed.warnings);
  return verified.warnings.filter((warning) =>
    !ofFeed.has(warning) && warning.code !== "history_was_inconsistent"
  );
}

/** Writes everything, in steps that each leave a pin that holds. */
async function putAll(
  store: PinStore,
  found: Remembered | undefined,
  body: RememberedBody,
  { isAnew, held, steps, digests }: {
    readonly isAnew: boolean;
    readonly held: Refreshed;
    readonly steps: FeedGrowth["steps"];
    readonly digests: EventDigests;
  },
): Promise<PinEntry | undefined> {
  const { issuer } = body.pin;
  let revision = found?.entry.revision ?? 0;
  const entryOf = (state: string, body: RememberedBody): PinEntry => ({
    issuer,
    revision: ++revision,
    state,
    body: JSON.stringify(body),
  });
  const documents: PinRow = [DOCUMENTS_KEY, writeDocuments(held.documents)];
  if (isAnew || found === undefined) {
    const state = crypto.randomUUID();
    const { verification, marks } = held.feed!;
    let rows: PinRow[] = [documents];
    for (const row of wholeRows(verification.checkpoint(), marks, digests)) {
      if (rows.push(row) < STAGED_ROWS) continue;
      await store.stage({ issuer, state }, rows);
      rows = [];
    }
    await store.stage({ issuer, state }, rows);
    const entry = entryOf(state, body);
    return await store.put(entry) ? entry : undefined;
  }
  const { state } = found.entry;
  // All but the last: the feed up to there was verified as a part of the whole.
  for (const { end, rows, ...part } of steps.slice(0, -1)) {
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
      },
      feed: {
        ...body.feed,
        hash: part.hash,
        overlap: encodeBase64Url(part.overlap),
        latest: storedInstant(replay.latest!),
        keys,
        warnings: replay.warnings.length,
        warnings_left_out: replay.warningsLeftOut,
      },
    };
    if (!await store.put(entryOf(state, partial), rows)) return undefined;
  }
  const entry = entryOf(state, body);
  const rows = [...steps.at(-1)?.rows ?? [], documents];
  return await store.put(entry, rows) ? entry : undefined;
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
  const incident = code === undefined ? body.incident : {
    code,
    since: body.incident?.code === code
      ? body.incident.since
      : formatInstant(instantOf(now)),
    detail: (error as Error).message,
  };
  const isKnown = JSON.stringify(incident) === JSON.stringify(body.incident) &&
    record.isSuspended === (body.suspended || body.incident !== null);
  if (isKnown) {
    // What was verified against an older view may be wrong by now.
    return (await store.get(entry.issuer))?.revision === entry.revision;
  }
  const after: RememberedBody = {
    ...body,
    incident,
    inconsistency: record.inconsistency ?? null,
    suspended: record.isSuspended,
  };
  return await store.put({
    ...entry,
    revision: entry.revision + 1,
    body: JSON.stringify(after),
  });
}

function pinMissing(store: PinStore, issuer: string): Error {
  return pinStoreUnavailable(store.place, `it has no pin of ${issuer}`, {
    hint:
      "It may have been emptied. Without --require-pin the next look is a first one.",
  });
}
