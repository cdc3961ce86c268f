/**
 * What a store remembers of an issuer: recalling it, and writing what a refresh
 * came to (docs/protocol.md §6).
 *
 * @module
 */

import { DEFAULT_LIMITS, type FeedState, type Limits, Replay } from "@sig/core";
import type { ProvenLocation } from "../read/source.ts";
import { storeUnavailable } from "../store/record_store.ts";
import type { ReadingOptions } from "../verify/verify_feed.ts";
import {
  contradictionWarning,
  type IssuerRecord,
  NOTHING_KNOWN,
  type Observation,
  type Refresh,
  withoutPast,
} from "./issuer_record.ts";
import { PartialHistory, replayFrom, stateOf } from "./partial_history.ts";
import {
  decodePin,
  encodeChecked,
  HistoryMoved,
  PINS,
  sameHistory,
  sha256Hex,
  type StoredPin,
} from "./pin.ts";
import type { NewLines, PinStore } from "./sqlite_lines.ts";
import { describePolicy, type ProofPolicy } from "../proofs/proof_policy.ts";
import { attachmentOf, StoredLines, withoutTime } from "./stored_lines.ts";

/** Options of {@linkcode IssuerMemory}. */
export interface MemoryOptions extends ReadingOptions {
  /** How large a feed may become whose lines are stored (default: `limits`). */
  readonly rememberedLimits?: Limits | undefined;
  /** What the checkpoint must have: a state that was read without does not answer. */
  readonly checkpointPolicy?: ProofPolicy | undefined;
}

/** How a refresh was made, as far as the memory is about it. */
export interface CommitOptions {
  /** Whether the state of a feed that was read is whole, though lines are stored. */
  readonly needsState?: boolean | undefined;
  /** The new lines, where the store takes them. */
  readonly lines: NewLines | undefined;
  /** When the refresh began. */
  readonly now: Date;
}

/** A pin as it is stored now. */
export interface WrittenPin {
  /** What it says. */
  readonly known: StoredPin;
  /** The text of its record. */
  readonly text: string;
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
   * counts for all. A contradiction that one of them saw ends all answers.
   *
   * @throws {SigError} `store_unavailable`
   */
  async recall(before: IssuerRecord, now: Date): Promise<IssuerRecord> {
    const text = await this.#findText(now);
    if (text === undefined) {
      return before.text === undefined ? before : NOTHING_KNOWN;
    }
    if (text === before.text) return before;
    const known = await this.#decode(text);
    const from = { ...before, held: undefined, known, text };
    if (!this.#isOfNow(known)) return from;
    if (this.#store.lines !== undefined) {
      const opened = await this.#openLines(known, before);
      return opened === undefined ? from : this.#withLines(from, known, opened);
    }
    // A state of this process is a base to continue from, if it is older. Of the
    // same feed others have learnt something that answers tell.
    const { held } = before;
    const isMore = held?.pin.prefix_sha256 === known.pin.prefix_sha256 &&
      !(before.known !== undefined &&
        sameHistory(withoutProof(known), withoutProof(before.known)));
    return { ...from, held: isMore ? undefined : held };
  }

  /** What is known from the pin alone, whatever became of its lines. */
  async recallPin(before: IssuerRecord, now: Date): Promise<IssuerRecord> {
    const text = await this.#findText(now);
    if (text === undefined) return NOTHING_KNOWN;
    const known = await this.#decode(text);
    return { ...before, held: undefined, known, text };
  }

  /** The lines of a pin; those that were read before, with what is cached. */
  async #openLines(
    stored: StoredPin,
    { held, known }: IssuerRecord,
  ): Promise<StoredLines | undefined> {
    const before = held?.observation.stored;
    const isSame = stored.pin.sequence === known?.pin.sequence &&
      stored.lines?.table === known.lines?.table &&
      stored.lines?.sha256 === known.lines?.sha256;
    return isSame && before
      ? before
      : await StoredLines.open(this.#store.lines!, stored, this.#options);
  }

  /** The record with what can be continued from stored lines. */
  continued(record: IssuerRecord, lines: NewLines): IssuerRecord {
    const { held, known } = record;
    const stored = held?.observation.stored;
    if (stored === undefined || known === undefined) return record;
    const limits = this.limitsAfter(record);
    const comparedAt = new Date(known.compared_at);
    const feed = { ...stored.continued(lines, limits), comparedAt };
    return { ...record, held: { ...held!, feed } };
  }

  /**
   * Writes what a refresh found.
   *
   * @param before What it began with, as {@linkcode recall} gave it.
   * @returns What is known now.
   * @throws {HistoryMoved} where another process has written another history: the
   * refresh is to be repeated.
   */
  async commit(
    before: IssuerRecord,
    refresh: Refresh,
    { needsState, lines, now }: CommitOptions,
  ): Promise<IssuerRecord> {
    const { record, failure, isFromStart } = refresh;
    const { known, held } = record;
    if (known === undefined) return record;
    if (failure !== undefined || lines === undefined) {
      const written = await this.replace(known, before, now);
      return { ...(failure ? withoutFeed(record) : record), ...written };
    }
    const written = await this.#commitLines(before, refresh, lines, now);
    const opened = (await this.#openLines(written.known, before))!;
    const { keys, observation: { continuity, verified } } = held!;
    if (needsState && isFromStart) opened.keepWhole(verified.state);
    const after = { ...record, ...written };
    const recalled = this.#withLines(after, written.known, opened).held!;
    const observation = { ...recalled.observation, continuity };
    return { ...after, held: { ...recalled, keys, observation } };
  }

  /**
   * Writes a pin over the one that was read, or over the same one which others
   * have only read the issuer for meanwhile.
   *
   * @returns What is stored now.
   * @throws {HistoryMoved} where it is another history.
   */
  async replace(
    pin: StoredPin,
    before: IssuerRecord,
    now: Date,
  ): Promise<WrittenPin> {
    const issuer = this.#location.expectedIssuer;
    let stored = pin;
    for (let write = 0; write < MAX_WRITES; write++) {
      const found = await this.#store.get(PINS, issuer, now);
      if (found?.text !== before.text) {
        const theirs = found && await this.#decode(found.text);
        if (theirs && sameHistory(theirs, stored)) {
          return { known: theirs, text: found!.text };
        }
        const { known } = before;
        const isOther = !theirs || !known || !sameHistory(theirs, known);
        if (isOther) throw new HistoryMoved();
        // The same lines may have another attachment now.
        stored = { ...notOlder(stored, theirs), lines: theirs.lines };
      }
      const text = await this.#encode(stored);
      if (text === found?.text) return { known: stored, text };
      const isWritten = await this.#store.put(
        PINS,
        issuer,
        { text, expiresAtMs: null },
        found?.version ?? null,
        now,
      );
      if (isWritten) return { known: stored, text };
    }
    throw storeUnavailable(
      this.#store.place,
      "other processes keep changing it",
    );
  }

  async #commitLines(
    before: IssuerRecord,
    { record, isFromStart }: Refresh,
    lines: NewLines,
    now: Date,
  ): Promise<WrittenPin> {
    const { known, held } = record;
    const pin = known!;
    const notices = noticesOf(held!.observation);
    const attachment = attachmentOf(held!.feed!, held!.documents, notices);
    const sha256 = await sha256Hex(attachment);
    const isSame = before.known?.lines?.sha256 === sha256;
    if (!isFromStart && lines.isEmpty && isSame) {
      const { lines } = before.known;
      return await this.replace({ ...pin, lines }, before, now);
    }
    return await lines.commit({
      issuer: pin.pin.issuer,
      ...{ isFromStart, attachment },
      decide: async (current, table) => {
        let stored: StoredPin = { ...pin, lines: { table, sha256 } };
        if (current !== before.text) {
          const theirs = current && await this.#decode(current);
          const { known } = before;
          const isOther = !theirs || !known || !sameHistory(theirs, known);
          if (isOther) throw new HistoryMoved();
          stored = notOlder(stored, theirs);
        }
        return { known: stored, text: await this.#encode(stored) };
      },
    });
  }

  #encode(stored: StoredPin): Promise<string> {
    const id = this.#location.expectedIssuer;
    return encodeChecked({ kind: PINS, id }, stored);
  }

  #decode(text: string): Promise<StoredPin> {
    const { expectedIssuer } = this.#location;
    return decodePin(this.#store.place, expectedIssuer, text);
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
              ...contradictionWarning(stored),
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
  limitsAfter({ known }: IssuerRecord): Limits {
    const { limits = DEFAULT_LIMITS, rememberedLimits: whole } = this.#options;
    if (whole === undefined || known === undefined) return limits;
    const { bytes, sequence } = known.pin;
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
