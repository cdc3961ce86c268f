/**
 * An issuer as a store remembers it (PROTOCOL §6). Long because answering from
 * it and going on from it read the same body by the same rules.
 *
 * @module
 */

import {
  DEFAULT_LIMITS,
  type FeedState,
  type Limits,
  Replay,
  type ReplayStart,
  type Warning,
} from "@sig/core";
import { decodeBase64Url } from "@std/encoding/base64url";
import type { ProvenLocation } from "../read/source.ts";
import type { HeldDocuments } from "../read/conditional_reader.ts";
import { FeedDigest } from "../verify/feed_digest.ts";
import {
  FeedVerification,
  type VerificationStart,
} from "../verify/feed_verification.ts";
import { SignatureMarks } from "../verify/signature_marks.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import { FeedGrowth } from "../pins/feed_growth.ts";
import {
  instantOfStored,
  readDocuments,
  type StoredBlock,
} from "../pins/feed_rows.ts";
import { reducePin } from "../pins/issuer_pin.ts";
import { damaged, type PinEntry, type PinStore } from "../pins/pin_store.ts";
import { BLOCK_PREFIX, DOCUMENTS_KEY } from "../pins/row_keys.ts";
import { Sha256 } from "../pins/sha256.ts";
import { StoredHistory } from "../pins/stored_history.ts";
import {
  isBlock,
  readText,
  readWarnings,
  type StoredState,
} from "../pins/stored_state.ts";
import {
  type HeldFeed,
  type IssuerRecord,
  type Observation,
  recordOf,
  type Refreshed,
} from "./issuer_record.ts";
import { inconsistencyWarning, stillOdd } from "./refresh_issuer.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import { readBody, type RememberedBody } from "./remembered_body.ts";

/** An issuer as the store has it. */
export interface Remembered {
  /** As it is kept. */
  readonly entry: PinEntry;
  /** What its text says. */
  readonly body: RememberedBody;
  /** Its rows. */
  readonly stored: StoredState;
}

/** What a refresh from memory is told. */
export type RememberOptions = Omit<RefreshOptions, "now" | "report"> & {
  /** Verify everything again. */
  readonly full?: boolean | undefined;
  /** How large a feed may become that the store has; `limits` unless told. */
  readonly rememberedLimits?: Limits | undefined;
  /** The pin must be there already. */
  readonly requirePin?: boolean | undefined;
  /** As in `StagedFeed`. */
  readonly batchEvents?: number | undefined;
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

/** The rows of an entry. */
export function storedOf(
  store: PinStore,
  { issuer, state, revision }: PinEntry,
  { pin, feed }: RememberedBody,
): StoredState {
  return {
    store,
    ref: { issuer, state },
    revision,
    lastSequence: pin.sequence,
    hasWarnings: feed.warnings > 0,
    listed: feed.rows,
  };
}

/**
 * The record of an issuer that others have verified: enough to answer from
 * while it is young enough, without asking anybody. Undefined where the store
 * knows nothing, or nothing that may be answered from.
 */
export async function recallIssuer(
  store: PinStore,
  { expectedIssuer, metadataRef }: ProvenLocation,
  options: RememberOptions,
): Promise<IssuerRecord | undefined> {
  const found = await findRemembered(store, expectedIssuer);
  if (found === undefined) return undefined;
  const { body } = found;
  if (body.place !== metadataRef) return undefined;
  if (body.suspended || body.incident !== null) return undefined;
  if (!isOfNow(body, options)) return undefined;
  const start = await replayStart(found);
  return {
    ...recordOf(),
    ...await heldOf(found, toldAt(found, start, options), undefined),
  };
}

/** Where a replay of what is remembered stands. */
async function replayStart(
  { body: { feed, pin }, stored }: Remembered,
): Promise<ReplayStart & { readonly history: StoredHistory }> {
  const history = new StoredHistory();
  const warnings = (await readWarnings(stored, history))
    .map(({ warning }) => warning);
  return {
    lastSequence: pin.sequence,
    latest: feed.latest === null ? undefined : instantOfStored(feed.latest),
    history,
    warnings,
    warningsLeftOut: feed.warnings_left_out,
  };
}

/** What the refresh told that was the last to be in order. */
function toldAt(
  { body: { pin } }: Remembered,
  start: ReplayStart,
  { limits }: RememberOptions,
): readonly Warning[] {
  const { warnings } = new Replay({}, start);
  const now = new Date(pin.last_seen);
  return stillOdd(warnings, start.history, { now, limits });
}

/** The record to go on from, and what collects how the feed grows. */
export interface Resumed {
  /** What a refresh begins with. */
  readonly record: IssuerRecord;
  /** The feed to go on from, when that may be. */
  readonly feed: HeldFeed | undefined;
  /** Follows it. */
  readonly growth: FeedGrowth;
  /** Of the whole feed, when it goes on. */
  readonly limits: Limits | undefined;
}

/**
 * What is remembered takes no memory of this process: `limits` are of what is
 * new, the whole may become as large as `rememberedLimits` say.
 */
function limitsBeyond(
  { bytes, sequence }: RememberedBody["pin"],
  { limits = DEFAULT_LIMITS, rememberedLimits: whole }: RememberOptions,
): Limits {
  if (whole === undefined) return limits;
  return {
    ...limits,
    maxFeedBytes: Math.min(bytes + limits.maxFeedBytes, whole.maxFeedBytes),
    maxEvents: Math.min(sequence + limits.maxEvents, whole.maxEvents),
  };
}

/** What a refresh goes on from. */
export async function resumeIssuer(
  found: Remembered,
  options: RememberOptions,
): Promise<Resumed> {
  const { body, stored } = found;
  const { feed, pin } = body;
  const limits = limitsBeyond(pin, options);
  const replay = await replayStart(found);
  const { history, warnings } = replay;
  const marks = new SignatureMarks();
  const growth = new FeedGrowth(stored, history, marks, warnings.length);
  const start: VerificationStart = {
    bytes: pin.bytes,
    lastEventId: pin.last_event_id,
    keys: feed.keys,
    replay,
  };
  const hash = Sha256.load(feed.hash);
  if (hash === undefined) {
    throw damaged(stored.store.place, `the pin of ${pin.issuer}`);
  }
  const held: HeldFeed = {
    verification: new FeedVerification({
      issuer: pin.issuer,
      publicOnly: feed.public_only,
      limits,
      unknownEvents: options.unknownEvents,
      unmatchedRevoke: options.unmatchedRevoke,
      marks,
      start,
    }),
    digest: new FeedDigest(0, hash),
    marks,
    growth,
    overlap: decodeBase64Url(feed.overlap),
    ref: feed.ref,
    publicOnly: feed.public_only,
    warnings: feed.served_warnings,
    comparedAt: new Date(feed.compared_at),
  };
  // Otherwise, or on request, all events are judged again.
  const mayGoOn = !options.full && isOfNow(body, options);
  const told = toldAt(found, replay, options);
  const base = await heldOf(found, told, mayGoOn ? held : undefined);
  const documents = mayGoOn ? await readHeldDocuments(stored) : new Map();
  return {
    feed: mayGoOn ? held : undefined,
    growth,
    limits: mayGoOn ? limits : undefined,
    record: {
      ...recordOf(),
      ...base,
      held: { ...base.held, documents },
      isSuspended: body.suspended || body.incident !== null,
    },
  };
}

/**
 * A verified issuer without its state, which the store has: else the process
 * that verified it first would hold all of it for as long as it runs.
 */
export function withoutState(verified: VerifiedIssuer): VerifiedIssuer {
  const { issuer, state: { last_sequence } } = verified;
  const state = emptyState(issuer, last_sequence);
  return { ...verified, state, feed: { ...verified.feed, state } };
}

function emptyState(issuer: string, last_sequence: number): FeedState {
  const history = new StoredHistory();
  return { issuer, last_sequence, by_relationship_id: new Map(), history };
}

/** What was kept before its source was: its key set's URL is not known. */
function plainBefore({ place, feed }: RememberedBody): "https" | "http" {
  const isPlain = [place, feed.ref].some((url) => url?.startsWith("http:"));
  return isPlain ? "http" : "https";
}

/** What answers without asking, and what a refresh goes on from. */
async function heldOf(
  { body, stored }: Remembered,
  feedWarnings: readonly Warning[],
  feed: HeldFeed | undefined,
): Promise<Pick<IssuerRecord, "pin" | "inconsistency"> & { held: Refreshed }> {
  const { pin, notices, inconsistency } = body;
  const state = emptyState(pin.issuer, pin.sequence);
  const observation: Observation = {
    observedAt: new Date(pin.last_seen),
    observedAtText: pin.last_seen,
    continuity: pin.first_seen === pin.last_seen ? "first_seen" : "consistent",
    stored,
    verified: {
      issuer: pin.issuer,
      source: body.source ?? plainBefore(body),
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
        ...inconsistencyWarning(inconsistency ?? undefined),
        ...feedWarnings,
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
      allMarks: () => readMarks(stored),
      documents: new Map(),
    },
  };
}

async function readHeldDocuments(stored: StoredState): Promise<HeldDocuments> {
  const [text] = await stored.store.rows(stored.ref, [DOCUMENTS_KEY]);
  if (text === undefined) return new Map();
  try {
    return readDocuments(text);
  } catch {
    throw damaged(stored.store.place, "a document");
  }
}

/**
 * 4 bytes of each signature.
 *
 * @throws {SigError} `store_unavailable`; {@linkcode StateMoved}.
 */
export async function readMarks(stored: StoredState): Promise<SignatureMarks> {
  const blocks: [string, StoredBlock][] = [];
  for await (const [key, text] of stored.store.all(stored.ref, BLOCK_PREFIX)) {
    blocks.push([
      key,
      readText<StoredBlock>(stored, text, "a block of events", isBlock),
    ]);
  }
  blocks.sort(([a], [b]) => a < b ? -1 : 1);
  const marks = new SignatureMarks();
  for (const [, block] of blocks) marks.addMarks(block.marks);
  if (marks.length < stored.lastSequence) {
    throw damaged(stored.store.place, "a block of events");
  }
  return marks;
}

/** Whether it was kept under the same rules, and as it is kept now. */
function isOfNow({ feed }: RememberedBody, options: RememberOptions): boolean {
  return feed.policy === policyOf(options) && feed.rows !== undefined;
}

/** The rules of a reader that decide what a feed says. */
export function policyOf(
  { unknownEvents, unmatchedRevoke }: RememberOptions,
): string {
  return `${unknownEvents ?? "reject"} ${unmatchedRevoke ?? "ignore"}`;
}
