/**
 * Reads an issuer's pin and lines from a store, and writes the result of a
 * refresh (docs/protocol.md §6).
 *
 * @module
 */

import { DEFAULT_LIMITS, type Limits, Replay } from "@sig/core";
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
import { PartialHistory, replayFrom } from "./partial_history.ts";
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

export interface MemoryOptions extends ReadingOptions {
  /** Size limits of a feed whose lines are stored (default: `limits`). */
  readonly rememberedLimits?: Limits | undefined;
  /**
   * Requirements for the checkpoint. A state that was read without them does
   * not answer.
   */
  readonly checkpointPolicy?: ProofPolicy | undefined;
}

interface CommitOptions {
  /** Whether the refresh built the whole state. */
  readonly needsState?: boolean | undefined;
  /** Undefined if the store keeps no lines. */
  readonly lines: NewLines | undefined;
  readonly now: Date;
}

/** A pin as stored. */
interface WrittenPin {
  readonly known: StoredPin;
  readonly text: string;
}

/** Attempts to write while other processes write the same history. */
const MAX_WRITES = 32;

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
   * Returns the record updated from the store: all processes rely on what any
   * of them has seen. A contradiction seen by one process stops all answers.
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
    if (!this.#isCurrent(known)) return from;
    if (this.#store.lines !== undefined) {
      const opened = await this.#openLines(known, before);
      return opened === undefined ? from : this.#withLines(from, known, opened);
    }
    // An older state of this process is a base to continue from. If the feed is
    // the same but the pin differs, another process has recorded something that
    // answers must show, so the state is read again.
    const { held } = before;
    const isMore = held?.pin.prefix_sha256 === known.pin.prefix_sha256 &&
      !(before.known !== undefined &&
        sameHistory(withoutProof(known), withoutProof(before.known)));
    return { ...from, held: isMore ? undefined : held };
  }

  async recallPin(before: IssuerRecord, now: Date): Promise<IssuerRecord> {
    const text = await this.#findText(now);
    if (text === undefined) return NOTHING_KNOWN;
    const known = await this.#decode(text);
    return { ...before, held: undefined, known, text };
  }

  /** Reuses open lines and their cache if they are unchanged. */
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

  /** Adds the feed to continue from stored lines. */
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
   * Writes the result of a refresh.
   *
   * @param before The record before the refresh, from {@linkcode recall}.
   * @returns The new record.
   * @throws {HistoryMoved} if another process has written a different history.
   * Repeat the refresh.
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
   * Overwrites the pin that was read, also if other processes have since
   * written the same history with a later read time.
   *
   * @returns The stored pin.
   * @throws {HistoryMoved} if the store has a different history.
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
        // The same lines may have a different attachment now.
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
      isFromStart,
      attachment,
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

  /**
   * A pin of another URL or policy is only compared with; its state does not
   * answer.
   */
  #isCurrent({ place, policy }: StoredPin): boolean {
    return place === this.#location.metadataRef &&
      policy === policyOf(this.#options);
  }

  /** Returns a record that answers from stored lines without a request. */
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
    // Its warnings include the count of omitted warnings.
    const replay = new Replay(
      { issuer: pin.issuer },
      replayFrom(new PartialHistory(), {
        lastSequence: pin.sequence,
        warnings: attachment.warnings.map(withoutTime),
        warningsLeftOut: attachment.warnings_left_out,
      }),
    );
    const warnings = withoutPast(
      replay.warnings,
      (sequence) => issued.get(sequence)!,
      { now: observedAt, limits: this.#options.limits },
    );
    const state = replay.state();
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
   * Returns the limits for continuing a feed. Stored lines take no memory of
   * this process: `limits` apply to the new part, `rememberedLimits` to the
   * whole feed.
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

function withoutProof(stored: StoredPin): StoredPin {
  return { ...stored, pin: { ...stored.pin, proof: undefined } };
}

/** Returns the reader's rules as text. */
export function policyOf(
  { unknownEvents = "reject", unmatchedRevoke = "ignore", checkpointPolicy }:
    MemoryOptions,
): string {
  const events = `${unknownEvents} ${unmatchedRevoke}`;
  return checkpointPolicy === undefined
    ? events
    : `${events} ${describePolicy(checkpointPolicy)}`;
}

function notOlder(stored: StoredPin, theirs: StoredPin): StoredPin {
  const { last_seen } = theirs.pin;
  if (new Date(last_seen) <= new Date(stored.pin.last_seen)) return stored;
  return { ...stored, pin: { ...stored.pin, last_seen } };
}

/** Drops a held feed if the store has its lines. */
function withoutFeed(record: IssuerRecord): IssuerRecord {
  const { held } = record;
  if (held?.observation.stored === undefined) return record;
  return { ...record, held: { ...held, feed: undefined } };
}

/**
 * Returns the warnings about documents; those about events and the history are
 * added at each read.
 */
function noticesOf({ verified }: Observation) {
  const ofFeed = new Set(verified.feed.warnings);
  return verified.warnings.filter((warning) =>
    !ofFeed.has(warning) && warning.code !== "history_was_inconsistent"
  );
}
