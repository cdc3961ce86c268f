/** A feed that is read from its first event, on its way into a store. @module */

import type { ReplayStart, RulesIds } from "@sig/core";
import type { VerificationStart } from "../verify/feed_verification.ts";
import type { SignatureMarks } from "../verify/signature_marks.ts";
import { type ArrivedEvent, ArrivingHistory } from "./arriving_history.ts";
import { BlockWriter } from "./block_writer.ts";
import { DigestedIds } from "./digested_ids.ts";
import { eventIdRows } from "./event_id_rows.ts";
import { FeedBatch } from "./feed_batch.ts";
import { writeWarnings } from "./feed_rows.ts";
import {
  growRelationships,
  growSubjects,
  type StagedRows,
} from "./grown_rows.ts";
import type { PinRow, PinStore, StateRef } from "./pin_store.ts";
import { type ListedRows, RowDirectory } from "./row_directory.ts";
import { WARNINGS_KEY } from "./row_keys.ts";

/**
 * Events that are held at most, but for those that are being judged: of a batch
 * rows are written together that stand together.
 */
const BATCH_EVENTS = 8_192;

/**
 * So many relationships take the room for events, and stand so far from each
 * other that larger batches win nothing.
 */
const MANY_RELATIONSHIPS = 250_000;
const BATCH_EVENTS_OF_MANY = 2_048;

/** The same where events are long: bytes of the feed. */
const BATCH_BYTES = 8 * 1024 * 1024;

/** Rows staged or read at once. */
const AT_ONCE = 2_000;

/** Where rows are long fewer: so many characters of them. */
const TEXT_AT_ONCE = 8 * 1024 * 1024;

/** Rows read before it is known how long they are. */
const FIRST_AT_ONCE = 250;

/** Options of {@linkcode StagedFeed}. */
export interface StagedFeedOptions {
  /** As in `verifyFeed`. */
  readonly breathe?: (() => Promise<void>) | undefined;
  /** How many events are held; some thousands unless told. */
  readonly batchEvents?: number | undefined;
}

/** What is held of a feed. */
interface Reading {
  readonly ref: StateRef;
  readonly history: ArrivingHistory;
  /** What the rules number; all events are among them. */
  readonly ids: Readonly<Record<keyof RulesIds, DigestedIds>>;
  readonly directory: RowDirectory;
  readonly blocks: BlockWriter;
  /** Bytes that have come since the last batch. */
  bytes: number;
  /** Whether a batch was staged: only then there is something to read. */
  hasStaged: boolean;
  /** Whether anything was. */
  isWritten: boolean;
}

/**
 * Writes the rows of a feed while it is verified, so that no process holds all
 * that it says. They are a state that no entry names: whatever comes of the
 * feed, nobody answers from them before {@linkcode finish} and the entry.
 */
export class StagedFeed {
  readonly #store: PinStore;
  readonly #issuer: string;
  readonly #breathe: (() => Promise<void>) | undefined;
  readonly #batchEvents: number | undefined;
  #reading: Reading | undefined;

  /** Nothing is written before a feed begins. */
  constructor(
    store: PinStore,
    issuer: string,
    { breathe, batchEvents }: StagedFeedOptions = {},
  ) {
    this.#store = store;
    this.#issuer = issuer;
    this.#breathe = breathe;
    this.#batchEvents = batchEvents;
  }

  /** Whether a feed is read from its start. */
  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  /** Begins with a feed, and gives what takes its events. */
  async begin(marks: SignatureMarks): Promise<ReplayStart> {
    await this.drop();
    const state = crypto.randomUUID();
    const history = new ArrivingHistory();
    const ids = {
      eventIds: new DigestedIds(),
      relationshipIds: new DigestedIds(),
      subjects: new DigestedIds(),
    };
    this.#reading = {
      ref: { issuer: this.#issuer, state },
      history,
      ids,
      directory: new RowDirectory(state),
      blocks: new BlockWriter(marks),
      bytes: 0,
      hasStaged: false,
      isWritten: false,
    };
    return {
      lastSequence: 0,
      latest: undefined,
      ids,
      history,
      warnings: [],
      warningsLeftOut: 0,
    };
  }

  /**
   * Told between two pieces of a feed, while nothing of it is judged.
   *
   * @param isFaulty Whether it is a faulty one, of which nothing will be kept.
   * @throws {SigError} `store_unavailable`; {@linkcode StateMoved} where another
   * process was faster.
   */
  async pause(bytes: number, isFaulty: () => boolean): Promise<void> {
    const reading = this.#reading;
    if (reading === undefined) return;
    reading.bytes += bytes;
    const { history, ids } = reading;
    const most = this.#batchEvents ??
      (ids.relationshipIds.size > MANY_RELATIONSHIPS
        ? BATCH_EVENTS_OF_MANY
        : BATCH_EVENTS);
    if (history.waiting < most && reading.bytes < BATCH_BYTES) return;
    reading.bytes = 0;
    const events = history.take();
    if (events.length === 0 || isFaulty()) return;
    await this.#take(reading, events);
    reading.hasStaged = true;
  }

  /**
   * Stages what is left, and these rows.
   *
   * @returns The state that an entry may name, and what is listed of it.
   * @throws {SigError} `store_unavailable`; {@linkcode StateMoved}.
   */
  async finish(
    { replay: { warnings } }: VerificationStart,
    rows: readonly PinRow[],
  ): Promise<{ readonly state: string; readonly listed: ListedRows }> {
    const reading = this.#reading;
    if (reading === undefined) {
      throw new TypeError("Cannot finish: no feed was begun");
    }
    const { ref, history, ids, directory } = reading;
    const events = history.take();
    if (events.length > 0) await this.#take(reading, events);
    // No event follows: what the last rows take has room there.
    ids.relationshipIds.end();
    ids.subjects.end();
    await this.#stage(
      reading,
      function* (): Generator<PinRow> {
        yield* eventIdRows(ids.eventIds);
        if (warnings.length > 0) {
          yield [WARNINGS_KEY, writeWarnings(warnings, history)];
        }
        yield* directory.rows();
        yield* rows;
      }(),
    );
    return { state: ref.state, listed: directory.listed };
  }

  /** An entry names it by now: nothing is taken back. */
  keep(): void {
    this.#reading = undefined;
  }

  /** Takes back what was staged, but for what is to be kept. */
  async drop(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    if (reading?.isWritten) await this.#store.unstage(reading.ref);
  }

  /** Stages what some events change; a part of it for some of them again. */
  async #take(
    reading: Reading,
    events: readonly ArrivedEvent[],
  ): Promise<void> {
    const { ref, history, blocks } = reading;
    for (const [i, { event }] of events.entries()) {
      if (i % AT_ONCE === 0) await this.#breathe?.();
      blocks.add(event);
    }
    const staged: StagedRows = {
      store: this.#store,
      issuer: this.#issuer,
      directory: reading.directory,
      // Before anything is staged there is nothing to read. Where it is gone
      // nothing is found, and nothing more can be staged.
      read: (keys) =>
        reading.hasStaged
          ? this.#store.staged(ref, keys)
          : Promise.resolve(keys.map(() => undefined)),
    };
    await this.#stage(reading, blocks.rows());
    const batch = new FeedBatch(events, history);
    // In the order in which stores keep them.
    await this.#stageInTurn(
      reading,
      [...batch.ids].sort(),
      (ids) => growRelationships(staged, batch, ids),
    );
    await this.#stageInTurn(
      reading,
      [...batch.subjects()].sort(([a], [b]) => a < b ? -1 : 1),
      (subjects) => growSubjects(staged, subjects),
    );
  }

  /** Stages what things come to, as many at once as their rows are short. */
  async #stageInTurn<T>(
    reading: Reading,
    all: readonly T[],
    rowsOf: (some: readonly T[]) => Promise<readonly PinRow[]>,
  ): Promise<void> {
    let atOnce = FIRST_AT_ONCE;
    for (let at = 0; at < all.length;) {
      const some = all.slice(at, at + atOnce);
      const rows = await rowsOf(some);
      await this.#stage(reading, rows);
      at += some.length;
      const text = rows.reduce((sum, [, row]) => sum + row.length, 1);
      const room = Math.floor(TEXT_AT_ONCE * some.length / text);
      atOnce = Math.max(1, Math.min(AT_ONCE, room));
    }
  }

  async #stage(reading: Reading, rows: Iterable<PinRow>): Promise<void> {
    reading.isWritten = true;
    let some: PinRow[] = [];
    const flush = async () => {
      await this.#breathe?.();
      await this.#store.stage(reading.ref, some);
      some = [];
    };
    for (const row of rows) {
      if (some.push(row) >= AT_ONCE) await flush();
    }
    if (some.length > 0) await flush();
  }
}
