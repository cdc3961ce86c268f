/**
 * What a store remembers of an issuer: recalling it, and writing what a refresh
 * came to (docs/protocol.md §6).
 *
 * @module
 */

import {
  DEFAULT_LIMITS,
  type ErrorContext,
  type FeedState,
  formatInstant,
  instantOf,
  type Limits,
  Replay,
  type SigError,
} from "@sig/core";
import type { ProvenLocation } from "../read/source.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import { storeUnavailable } from "../store/record_store.ts";
import {
  contradictionOf,
  contradictionWarning,
  type IssuerRecord,
  NOTHING_KNOWN,
  type Observation,
  type SharedPin,
  withoutPast,
} from "./issuer_record.ts";
import { PartialHistory, replayFrom, stateOf } from "./partial_history.ts";
import {
  addedKeys,
  decodePin,
  encodeChecked,
  type IssuerPin,
  type PinIncident,
  sameHistory,
  type SeenFeed,
  type SeenProof,
  sha256Hex,
  shortenKids,
  type StoredPin,
} from "./pin.ts";
import { PINS, type PinStore } from "./pin_store.ts";
import { describePolicy, type ProofPolicy } from "../proofs/proof_policy.ts";
import { damagedPin, type NewLines } from "./sqlite_lines.ts";
import {
  attachmentOf,
  StoredLines,
  type StoredLinesOptions,
  withoutTime,
} from "./stored_lines.ts";

/** Options of {@linkcode IssuerMemory}. */
export interface MemoryOptions extends StoredLinesOptions {
  /** How large a feed may become whose lines are stored (default: `limits`). */
  readonly rememberedLimits?: Limits | undefined;
  /** What the checkpoint must have: a state that was read without does not answer. */
  readonly checkpointPolicy?: ProofPolicy | undefined;
}

/** What a refresh found, as far as the memory is about it. */
export interface RefreshResult {
  /** What is known from then on. */
  readonly record: IssuerRecord;
  /** Why there is nothing to answer from; undefined: all was in order. */
  readonly failure:
    | {
      readonly error: unknown;
      readonly seen: SeenFeed | SeenProof | undefined;
    }
    | undefined;
  /** Whether all of the feed was verified, and not only what is new. */
  readonly isFromStart: boolean;
  /** Whether the state of such a feed is whole, though lines are stored. */
  readonly needsState?: boolean | undefined;
  /** The new lines, where the store takes them. */
  readonly lines: NewLines | undefined;
  /** When the refresh began. */
  readonly now: Date;
}

/** What a read by proof found, as far as the memory is about it. */
export interface ProofResult {
  /** What was proved. */
  readonly verified?: Pick<VerifiedIssuer, "source"> | undefined;
  /** The contradiction that was seen instead. */
  readonly error?: SigError | undefined;
  /** What was shown then. */
  readonly seen?: SeenProof | undefined;
}

/** How often others may write the same history while it is written. */
const MAX_WRITES = 32;

/** One issuer in a store. */
export class IssuerMemory {
  readonly #store: PinStore;
  readonly #location: ProvenLocation;
  readonly #options: MemoryOptions;

  constructor(
    store: PinStore,
    location: ProvenLocation,
    options: MemoryOptions,
  ) {
    this.#store = store;
    this.#location = location;
    this.#options = options;
  }

  async #findText(now: Date): Promise<string | undefined> {
    const issuer = this.#location.expectedIssuer;
    const found = await this.#store.get(PINS, issuer, now);
    if (found === undefined) await this.#store.lines?.requireForgotten(issuer);
    return found?.text;
  }

  /**
   * What is known, with what others have stored since: what one process has seen
   * counts for all. A contradiction that one of them saw ends all answers; the
   * same history that was read later counts as read by this process.
   *
   * @throws {SigError} `store_unavailable`
   */
  async recall(known: IssuerRecord, now: Date): Promise<IssuerRecord> {
    const { shared } = known;
    const text = await this.#findText(now);
    if (text === undefined) return shared ? NOTHING_KNOWN : known;
    if (text === shared?.text) return known;
    const stored = await this.#decode(text);
    const isSame = shared !== undefined && sameHistory(stored, shared.stored) &&
      stored.lines?.sha256 === shared.stored.lines?.sha256;
    if (isSame && known.held !== undefined) {
      return observedLater(known, { stored, text });
    }
    const lines = this.#store.lines;
    const mayAnswer = this.#isOfNow(stored);
    const from = withPin(known, { stored, text });
    if (lines === undefined) {
      // A state of this process is a base to continue from, if it is older.
      const held = mayAnswer ? known.held : undefined;
      // The same feed, of which others have learnt something that answers tell.
      const isSameFeed = held?.pin.prefix_sha256 === stored.pin.prefix_sha256;
      const hasProofAlone = shared !== undefined &&
        sameHistory(withoutProof(stored), withoutProof(shared.stored));
      const isMore = isSameFeed && !hasProofAlone;
      return { ...from, held, unusable: from.unusable || isMore };
    }
    const opened = mayAnswer ? await this.#openLines(stored, known) : undefined;
    return opened === undefined ? from : this.#withLines(from, stored, opened);
  }

  /** What is known from the pin alone, whatever became of its lines. */
  async recallPin(known: IssuerRecord, now: Date): Promise<IssuerRecord> {
    const text = await this.#findText(now);
    if (text === undefined) return NOTHING_KNOWN;
    return withPin(known, { stored: await this.#decode(text), text });
  }

  /** The lines of a pin; those that were read before, with what is cached. */
  async #openLines(
    stored: StoredPin,
    { held, shared }: IssuerRecord,
  ): Promise<StoredLines | undefined> {
    const lines = this.#store.lines!;
    const known = held?.observation.stored;
    const isSame = stored.pin.sequence === shared?.stored.pin.sequence &&
      stored.lines?.table === shared.stored.lines?.table &&
      stored.lines?.sha256 === shared.stored.lines?.sha256;
    return isSame && known instanceof StoredLines
      ? known
      : await StoredLines.open(lines, stored, this.#options);
  }

  /** The record with what can be continued from stored lines. */
  continued(record: IssuerRecord, lines: NewLines): IssuerRecord {
    const { held, shared } = record;
    const stored = held?.observation.stored;
    if (!(stored instanceof StoredLines) || shared === undefined) {
      return record;
    }
    const limits = this.limitsAfter(record);
    const comparedAt = new Date(shared.stored.compared_at);
    const feed = { ...stored.continued(lines, limits), comparedAt };
    return { ...record, held: { ...held!, feed } };
  }

  /**
   * Writes what a refresh found.
   *
   * @param before What it began with, as {@linkcode recall} gave it.
   * @param accepted What changes in the pin because a history was accepted.
   * @returns What is known now; undefined where another process has written
   * another history: the refresh is to be repeated.
   */
  async commit(
    before: IssuerRecord,
    result: RefreshResult,
    accepted: (pin: StoredPin) => StoredPin = (pin) => pin,
  ): Promise<IssuerRecord | undefined> {
    const { record, failure, now } = result;
    if (failure !== undefined) {
      const { shared } = before;
      if (shared === undefined) return record;
      const after = await this.replace(
        noteFailure(shared.stored, result),
        shared,
        now,
      );
      return after && { ...withoutFeed(record), shared: after };
    }
    const after = accepted(await this.#storedPin(before, result));
    const { lines } = this.#store;
    if (lines === undefined || result.lines === undefined) {
      const shared = await this.replace(after, before.shared, now);
      return shared && { ...record, shared };
    }
    const shared = await this.#commitLines(before, result, after);
    if (shared === undefined) return undefined;
    const opened = await this.#openLines(shared.stored, before);
    if (opened === undefined) return undefined;
    const { keys, observation: { continuity, verified } } = record.held!;
    if (result.needsState && result.isFromStart) {
      opened.keepWhole(verified.state);
    }
    const known = this.#withLines({ ...record, shared }, shared.stored, opened);
    const held = known.held!;
    const observation = { ...held.observation, continuity };
    return { ...known, held: { ...held, keys, observation } };
  }

  /**
   * Writes what a read by proof found.
   *
   * @param record With the pin, and what the store had when it was read.
   * @returns What is stored now; undefined where it is another history.
   */
  async commitProof(
    record: IssuerRecord,
    found: ProofResult,
    now: Date,
  ): Promise<SharedPin | undefined> {
    const { shared } = record;
    const { error, seen, verified } = found;
    if (error !== undefined) {
      const of = { record, failure: { error, seen }, now };
      const noted = noteFailure(shared!.stored, of);
      return await this.replace(noted, shared, now);
    }
    const pin = record.pin!;
    const keys = await shortenKids(pin.proof!.keys);
    const proof = { ...pin.proof!, keys };
    const stored: StoredPin = shared === undefined
      ? {
        pin: { ...pin, proof },
        unread: true,
        place: this.#location.metadataRef,
        source: verified?.source === "http" ? "http" : "https",
        public_only: true,
        policy: policyOf(this.#options),
        compared_at: pin.last_seen,
        ...{ unusable: false, last_contradiction: null, incident: null },
        ...{ acknowledged: [], rewritten_from: [], lines: null },
      }
      : { ...shared.stored, pin: { ...shared.stored.pin, proof } };
    return await this.replace(stored, shared, now);
  }

  /**
   * Writes a pin over the one that was read, or over the same one which others
   * have only read the issuer for meanwhile.
   *
   * @returns What is stored now; undefined where it is another history.
   */
  async replace(
    pin: StoredPin,
    before: SharedPin | undefined,
    now: Date,
  ): Promise<SharedPin | undefined> {
    const issuer = this.#location.expectedIssuer;
    let stored = pin;
    for (let write = 0; write < MAX_WRITES; write++) {
      const found = await this.#store.get(PINS, issuer, now);
      if (found?.text !== before?.text) {
        const theirs = found && await this.#decode(found.text);
        if (theirs === undefined) return undefined;
        if (sameHistory(theirs, stored)) {
          return { stored: theirs, text: found!.text };
        }
        if (before === undefined || !sameHistory(theirs, before.stored)) {
          return undefined;
        }
        // The same lines may have another attachment now.
        stored = { ...notOlder(stored, theirs), lines: theirs.lines };
      }
      const text = await this.#encode(stored);
      if (text === found?.text) return { stored, text };
      const isWritten = await this.#store.put(
        PINS,
        issuer,
        { text, expiresAtMs: null },
        found?.version ?? null,
        now,
      );
      if (isWritten) return { stored, text };
    }
    throw storeUnavailable(
      this.#store.place,
      "other processes keep changing it",
    );
  }

  async #commitLines(
    before: IssuerRecord,
    { record, lines, isFromStart, now }: RefreshResult,
    pin: StoredPin,
  ): Promise<SharedPin | undefined> {
    const held = record.held!;
    const attachment = attachmentOf(
      held.feed!,
      held.documents,
      noticesOf(held.observation),
    );
    const sha256 = await sha256Hex(attachment);
    const { shared } = before;
    const isSame = shared?.stored.lines?.sha256 === sha256;
    if (!isFromStart && lines!.isEmpty && isSame) {
      return await this.replace(
        { ...pin, lines: shared.stored.lines },
        shared,
        now,
      );
    }
    const table = isFromStart ? undefined : shared?.stored.lines?.table;
    let result: SharedPin | undefined;
    const isWritten = await lines!.commit({
      issuer: this.#location.expectedIssuer,
      table,
      attachment,
      decide: async (current, table) => {
        let stored: StoredPin = { ...pin, lines: { table, sha256 } };
        if (current !== shared?.text) {
          const theirs = current === undefined
            ? undefined
            : await this.#decode(current);
          const isReadOnly = theirs !== undefined && shared !== undefined &&
            sameHistory(theirs, shared.stored);
          if (!isReadOnly) return undefined;
          stored = notOlder(stored, theirs);
        }
        const text = await this.#encode(stored);
        result = { stored, text };
        return text;
      },
    });
    return isWritten ? result : undefined;
  }

  async #storedPin(
    { shared }: IssuerRecord,
    { record }: RefreshResult,
  ): Promise<StoredPin> {
    const held = record.held!;
    const { pin, feed, observation } = held;
    const { source } = observation.verified;
    const { proof } = pin;
    const stored: IssuerPin = {
      ...pin,
      keys: await shortenKids(pin.keys),
      ...(proof && {
        proof: { ...proof, keys: await shortenKids(proof.keys) },
      }),
    };
    const added = addedKeys(shared?.stored.pin, stored)
      .map((kid) => ({ kid, at: pin.last_seen }));
    return {
      pin: stored,
      key_added: [...shared?.stored.key_added ?? [], ...added].slice(-20),
      place: this.#location.metadataRef,
      source: source === "http" ? "http" : "https",
      public_only: feed!.publicOnly,
      policy: policyOf(this.#options),
      compared_at: feed!.comparedAt.toISOString(),
      unusable: false,
      last_contradiction: record.lastContradiction ?? null,
      incident: null,
      acknowledged: shared?.stored.acknowledged ?? [],
      rewritten_from: shared?.stored.rewritten_from ?? [],
      lines: null,
    };
  }

  #encode(stored: StoredPin): Promise<string> {
    const id = this.#location.expectedIssuer;
    return encodeChecked({ kind: PINS, id }, stored);
  }

  async #decode(text: string): Promise<StoredPin> {
    const issuer = this.#location.expectedIssuer;
    const stored = await decodePin({ kind: PINS, id: issuer }, text);
    if (stored !== undefined) return stored;
    const unavailable = storeUnavailable.bind(undefined, this.#store.place);
    throw damagedPin(unavailable, `the pin of ${issuer}`);
  }

  /** A pin of another place or other rules is compared with, not answered from. */
  #isOfNow({ place, policy }: StoredPin): boolean {
    return place === this.#location.metadataRef &&
      policy === policyOf(this.#options);
  }

  /** What answers from stored lines without asking the issuer. */
  #withLines(
    record: IssuerRecord,
    stored: StoredPin,
    lines: StoredLines,
  ): IssuerRecord {
    const { pin, source } = stored;
    const { attachment, documents } = lines;
    const observedAt = new Date(pin.last_seen);
    const issued = new Map(
      attachment.warnings.map((each) => [each.sequence, each.issued_at]),
    );
    const history = new PartialHistory();
    // Counts those that were left out.
    const { warnings: all } = new Replay(
      {},
      replayFrom(history, {
        lastSequence: pin.sequence,
        warnings: attachment.warnings.map(withoutTime),
        warningsLeftOut: attachment.warnings_left_out,
      }),
    );
    const warnings = withoutPast(
      all,
      (sequence) => issued.get(sequence)!,
      { now: observedAt, limits: this.#options.limits },
    );
    const state: FeedState = stateOf(pin.issuer, pin.sequence, history);
    return {
      ...record,
      held: {
        pin,
        feed: undefined,
        documents,
        observation: {
          observedAt,
          observedAtText: pin.last_seen,
          continuity: pin.first_seen === pin.last_seen
            ? "first_seen"
            : "consistent",
          stored: lines,
          verified: {
            issuer: pin.issuer,
            source,
            state,
            feed: {
              state,
              verifiedEvents: pin.sequence,
              bytes: pin.bytes,
              sha256: pin.prefix_sha256,
              keys: attachment.keys,
              warnings,
              faults: [],
            },
            warnings: [
              ...attachment.notices,
              ...contradictionWarning(stored.last_contradiction ?? undefined),
              ...warnings,
            ],
          },
        },
      },
    };
  }

  /**
   * Stored lines take no memory of this process: `limits` are of what is new,
   * the whole may become as large as `rememberedLimits` say.
   */
  limitsAfter({ shared }: IssuerRecord): Limits {
    const { limits = DEFAULT_LIMITS, rememberedLimits: whole } = this.#options;
    if (whole === undefined || shared === undefined) return limits;
    const { bytes, sequence } = shared.stored.pin;
    return {
      ...limits,
      maxFeedBytes: Math.min(bytes + limits.maxFeedBytes, whole.maxFeedBytes),
      maxEvents: Math.min(sequence + limits.maxEvents, whole.maxEvents),
    };
  }
}

/** What is stored but for what proofs said. */
function withoutProof(stored: StoredPin): StoredPin {
  return { ...stored, pin: { ...stored.pin, proof: undefined } };
}

/** What is known from a pin alone. */
function withPin(
  { repeatedAt }: IssuerRecord,
  shared: SharedPin,
): IssuerRecord {
  const { pin, unusable, incident, last_contradiction } = shared.stored;
  return {
    ...NOTHING_KNOWN,
    pin,
    unusable: unusable || incident !== null,
    lastContradiction: last_contradiction ?? undefined,
    repeatedAt,
    shared,
  };
}

/** The rules of the reader, as text. */
export function policyOf(
  { unknownEvents = "reject", unmatchedRevoke = "ignore", checkpointPolicy }:
    MemoryOptions,
): string {
  const events = `${unknownEvents} ${unmatchedRevoke}`;
  return checkpointPolicy === undefined
    ? events
    : `${events} ${describePolicy(checkpointPolicy)}`;
}

/** The same history, which another process has read later. */
function observedLater(known: IssuerRecord, shared: SharedPin): IssuerRecord {
  const held = known.held!;
  const { last_seen } = shared.stored.pin;
  const observedAt = new Date(last_seen);
  if (!(observedAt > held.observation.observedAt)) return { ...known, shared };
  return {
    ...known,
    shared,
    held: {
      ...held,
      pin: { ...held.pin, last_seen },
      observation: {
        ...held.observation,
        observedAt,
        observedAtText: last_seen,
        continuity: "consistent",
      },
    },
  };
}

/** An older view must not overwrite when the issuer was read last. */
function notOlder(stored: StoredPin, theirs: StoredPin): StoredPin {
  const { last_seen } = theirs.pin;
  if (new Date(last_seen) <= new Date(stored.pin.last_seen)) return stored;
  return { ...stored, pin: { ...stored.pin, last_seen } };
}

/** The store has the lines: this process keeps what it answers from. */
function withoutFeed(record: IssuerRecord): IssuerRecord {
  const { held } = record;
  if (held?.observation.stored === undefined) return record;
  return { ...record, held: { ...held, feed: undefined } };
}

/** What is odd, but for events and the history: those are added each time. */
function noticesOf({ verified }: Observation) {
  const ofFeed = new Set(verified.feed.warnings);
  return verified.warnings.filter((warning) =>
    !ofFeed.has(warning) && warning.code !== "history_was_inconsistent"
  );
}

/** The pin with what a failed refresh says about it. */
function noteFailure(
  stored: StoredPin,
  { record, failure, now }: Pick<RefreshResult, "record" | "failure" | "now">,
): StoredPin {
  const { error, seen } = failure!;
  const code = contradictionOf(error);
  return {
    ...stored,
    unusable: record.unusable,
    last_contradiction: record.lastContradiction ?? null,
    incident: code === undefined || stored.incident?.code === code
      ? stored.incident
      : {
        ...incidentOf(code, error as SigError, now),
        // What was seen first: what came later was never looked at.
        seen: stored.incident?.seen ?? seen ?? null,
      },
  };
}

/** Characters of an incident's detail: the record has a limit. */
const MAX_DETAIL = 2_000;

function incidentOf(
  code: string,
  { message, context }: SigError,
  now: Date,
): Omit<PinIncident, "seen"> {
  return {
    code,
    since: formatInstant(instantOf(now)),
    detail: (message + valuesOf(context)).slice(0, MAX_DETAIL),
  };
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
