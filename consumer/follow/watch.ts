/**
 * Watches a feed, event by event (docs/reference/command-line.md).
 *
 * In: where the issuer is, and the name of a cursor in a store. Out: each event
 * after the cursor, once. `watchIssuer` repeats reads and moves the cursor;
 * `WatchedFeed` makes one read; `requireSame` and `requireSameHistory` refuse a
 * feed that is not the one of the cursor.
 *
 * @module
 */

import {
  type ErrorContext,
  isSigError,
  SigError,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import { PinKeeper } from "../memory/keeper.ts";
import { type Pin, shortOrNull, UNKNOWN } from "../memory/pin.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import { SignatureWorkers } from "../verify/signature_workers.ts";
import type { FeedPolicy, VerifiedEvent } from "../verify/verified_feed.ts";
import type { RecordStore } from "../store/record_store.ts";
import { endingAt } from "./back_off.ts";
import { refreshIssuer } from "./refresh_issuer.ts";
import { FollowedIssuer } from "./reading.ts";
import {
  type CursorHistory,
  type CursorPosition,
  openCursor,
  START_OVER,
} from "./watch_cursor.ts";

/** Options of `Consumer.watch`. */
export interface WatchOptions {
  /**
   * The first sequence to yield, for a new cursor (default: the next event
   * after the current end of the feed).
   */
  readonly from?: number | undefined;
  /**
   * The name of the cursor: 1 to 64 letters, digits, `.`, `_`, `-` (default:
   * `default`).
   */
  readonly cursor?: string | undefined;
  /**
   * Whether to end after one read; any failure is then thrown (default: false).
   */
  readonly once?: boolean | undefined;
  /** Milliseconds between two reads (default: 30,000). */
  readonly intervalMs?: number | undefined;
  /** Ends watching; the event that is being handled can still be completed. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the error of a failed read, and the milliseconds until the
   * next.
   */
  readonly onRetry?: ((error: unknown, waitMs: number) => void) | undefined;
}

/** Options of {@linkcode watchIssuer}. */
export interface WatchIssuerOptions
  extends WatchOptions, FeedPolicy, LoadIssuerOptions {
  /** The clock. */
  readonly now: () => Date;
  /** The name of a local source in the store: its real path. */
  readonly place?: string | undefined;
  /**
   * The store of the cursor, and of the pin of an issuer whose origin is
   * proven.
   */
  readonly pins?: RecordStore | undefined;
  /** As in `ConsumerOptions`. */
  readonly mirrorFolder?: string | undefined;
  /** With `pins`: whether an issuer without a pin is an error. */
  readonly requirePin?: boolean | undefined;
}

/** A verified event of a watched feed. */
export interface WatchedEvent {
  /** The event's sequence. */
  readonly sequence: number;
  /** The event's `event_id`. */
  readonly event_id: string;
  /** The event. */
  readonly event: SigEvent | UnknownEvent;
  /** The kid of the key that signed the event. */
  readonly kid: string;
  /** Only of an event that is not applied, because its key had ended. */
  readonly void?: true;
}

const DEFAULT_INTERVAL_MS = 30_000;
/** Maximum wait after failures, or the interval if that is longer. */
const MAX_WAIT_MS = 5 * 60_000;

/**
 * Yields each newly verified event once, in order, across restarts. The cursor
 * moves when the next event is requested, so an event whose handling failed or
 * crashed is yielded again. Yields nothing from a feed that is not valid as a
 * whole.
 *
 * If the issuer can't be reached, retries at growing intervals. A fault or a
 * contradiction to the pin ends watching.
 *
 * @throws {SigError} as `verifyIssuer`; `feed_rolled_back` and the like
 * (docs/protocol.md §6.2); `store_unavailable`, also if two watchers use one
 * cursor; `invalid_request` for an invalid cursor name, for `from` with an
 * existing cursor, and for `from` beyond the feed's next event.
 */
export async function* watchIssuer(
  location: IssuerLocation,
  options: WatchIssuerOptions,
): AsyncGenerator<WatchedEvent> {
  const { pins, from, once, signal } = options;
  const place = options.place ?? location.expectedIssuer;
  if (place === undefined) {
    throw new TypeError("Cannot watch: a local source needs its place");
  }
  const intervalMs = options.intervalMs ?? DEFAULT_INTERVAL_MS;
  const cursor = await openCursor(
    pins,
    options.cursor ?? "default",
    place,
    options.now,
  );
  if (from !== undefined && cursor.at !== undefined) {
    const where = `the cursor ${cursor.name} is at event ${cursor.at.sequence}`;
    throw invalidFrom("watch from a sequence", where, {
      hint: "Omit --from, or use another --cursor.",
    });
  }
  const feed = new WatchedFeed(
    location,
    options,
    place,
    cursor.at?.pin ?? UNKNOWN,
  );
  for (let failures = 0;;) {
    let waitMs = intervalMs;
    const found = await endingAt(signal, feed.read(cursor.at, from))
      .catch((error: unknown) => ({ error }));
    if (signal?.aborted) return;
    if ("error" in found) {
      const { error } = found;
      if (once || !isTransient(error, location)) throw error;
      waitMs = waitAfter(++failures, intervalMs, error);
      options.onRetry?.(error, waitMs);
    } else {
      failures = 0;
      if (cursor.at === undefined) await cursor.move(found.start);
      for (const { event, kid, isVoid } of found.events) {
        const { sequence, event_id } = event;
        const marked = isVoid ? { void: true as const } : {};
        yield { sequence, event_id, event, kid, ...marked };
        await cursor.move(found.after(sequence, event_id));
        if (signal?.aborted) return;
      }
    }
    if (once) return;
    await pause(waitMs, signal);
    if (signal?.aborted) return;
  }
}

/**
 * Returns whether a later attempt may succeed. The last line of a file may be
 * incomplete while it is written.
 */
function isTransient(error: unknown, location: IssuerLocation): boolean {
  return isSigError(error) && error.category === "unavailable" ||
    !isProven(location) && isSigError(error, "incomplete_line");
}

/** Doubles with each failure, with jitter. */
function waitAfter(
  failures: number,
  intervalMs: number,
  error: unknown,
): number {
  const longest = Math.max(MAX_WAIT_MS, intervalMs);
  const asked = isSigError(error) && error.context.retry_after_seconds;
  const askedMs = typeof asked === "number" ? asked * 1000 : 0;
  const waitMs = intervalMs * 2 ** Math.min(failures - 1, 30) *
    (0.75 + Math.random() / 4);
  return Math.round(Math.min(Math.max(waitMs, askedMs), longest));
}

async function pause(
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await endingAt(signal, promise).catch(() => {});
  clearTimeout(timer);
}

function invalidFrom(
  action: string,
  reason: string,
  context: ErrorContext,
): SigError {
  return new SigError("invalid_request", {
    action,
    reason,
    context: { flag: "--from", ...context },
  });
}

/** The result of one refresh. */
interface RefreshedFeed {
  readonly last: number;
  readonly lastEventId: string | null;
  /** Events verified by this refresh, by sequence. */
  readonly events: ReadonlyMap<number, VerifiedEvent>;
}

class WatchedFeed {
  readonly #options: WatchIssuerOptions;
  readonly #issuer: FollowedIssuer;
  readonly #isStored: boolean;
  readonly #workers = new SignatureWorkers();

  /**
   * @param begin The pin to compare the feed with if no store remembers its
   * issuer.
   */
  constructor(
    location: IssuerLocation,
    options: WatchIssuerOptions,
    place: string,
    begin: Pin,
  ) {
    this.#options = options;
    const store = isProven(location) ? options.pins : undefined;
    this.#isStored = store !== undefined;
    const keeper = new PinKeeper(place, { store, begin });
    this.#issuer = new FollowedIssuer(location, keeper);
  }

  /**
   * Reads the events after the cursor, or those of a new cursor: in order, none
   * missing, with the position of the cursor before them and after each.
   */
  async read(
    cursor: CursorPosition | undefined,
    from: number | undefined,
  ) {
    const after = cursor?.sequence ?? (from ?? Infinity) - 1;
    let found = await this.#read(after, false);
    // Another process or watcher has already read these events: read from the
    // start.
    const isWhole = found.last <= after || found.events.has(after + 1);
    if (!isWhole) found = await this.#read(after, true);
    const { last, lastEventId, events } = found;
    if (cursor === undefined && from !== undefined && from > last + 1) {
      const next = `the next event of the feed is ${last + 1}`;
      throw invalidFrom(`watch from sequence ${from}`, next, {
        last_sequence: last,
      });
    }
    const kept = await this.#issuer.keeper.read(this.#options.now());
    const known = kept.pin.status === "unknown" ? null : kept.pin;
    const history = known !== null && this.#isStored
      ? { first_seen: known.first_seen, rewrites: known.rewrites }
      : undefined;
    if (cursor !== undefined) {
      requireSame(cursor, found);
      requireSameHistory(cursor, history, known?.rewritten_from ?? []);
    }
    const pin = this.#isStored ? null : known;
    const start = Math.min(after, last);
    const startId = start === last
      ? lastEventId
      : events.get(start)?.event.event_id ?? null;
    const position = (
      sequence: number,
      event_id: string | null,
    ): CursorPosition => ({
      ...{ sequence, event_id: shortOrNull(event_id) },
      ...{ pin, history },
    });
    return {
      events: [...events.values()].filter(({ event }) =>
        event.sequence > after
      ),
      start: position(start, startId),
      after: position,
    };
  }

  async #read(after: number, full: boolean): Promise<RefreshedFeed> {
    const events = new Map<number, VerifiedEvent>();
    const { copy } = await refreshIssuer(this.#issuer, {
      ...this.#options,
      workers: this.#workers,
      now: this.#options.now(),
      onAttempt: () => events.clear(),
      onEvent: (verified: VerifiedEvent) => {
        const { sequence } = verified.event;
        if (sequence >= after) events.set(sequence, verified);
      },
      full,
    });
    const { events: last, verification: { lastEventId } } = copy;
    return { last, lastEventId: shortOrNull(lastEventId), events };
  }
}

function isProven(location: IssuerLocation): boolean {
  return location.expectedIssuer !== undefined;
}

/**
 * Requires that the feed still has the cursor's event, also if the pin was
 * removed.
 */
function requireSame(
  { sequence, event_id }: CursorPosition,
  { last, lastEventId, events }: RefreshedFeed,
): void {
  if (last < sequence) {
    throw new SigError("feed_rolled_back", {
      action: "watch",
      reason:
        `the feed ends at sequence ${last}, and event ${sequence} was seen`,
      context: {
        seen_sequence: sequence,
        fetched_sequence: last,
        hint: START_OVER,
      },
    });
  }
  const found = sequence === last
    ? lastEventId
    : events.get(sequence)?.event.event_id ?? event_id;
  if (event_id === null || found === event_id) return;
  throw new SigError("feed_rewritten", {
    action: "watch",
    reason: `event ${sequence} differs from the event that was seen`,
    context: { sequence, hint: START_OVER },
  });
}

/** Requires that no accepted history has changed events before the cursor. */
function requireSameHistory(
  { sequence, history: seen }: CursorPosition,
  now: CursorHistory | undefined,
  rewrittenFrom: readonly number[],
): void {
  // Acknowledgements were removed with an earlier pin.
  if (seen === undefined || seen.first_seen !== now?.first_seen) return;
  // Only the latest are kept; of those before, any may have changed all events.
  const dropped = now.rewrites - rewrittenFrom.length;
  const since = rewrittenFrom.slice(Math.max(0, seen.rewrites - dropped));
  const isKnown = seen.rewrites >= dropped;
  if (isKnown && since.every((first) => first > sequence)) return;
  throw new SigError("feed_rewritten", {
    action: "watch",
    reason:
      `events up to ${sequence} were seen, and a history that changes them was accepted since`,
    context: { sequence, hint: START_OVER },
  });
}
