/** Following a feed, event by event (INTERFACES §2c). @module */

import { isSigError, type SigEvent, type UnknownEvent } from "@sig/core";
import type { PinStore } from "../pins/pin_store.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import type { FeedPolicy } from "../verify/verified_feed.ts";
import { WatchCursor } from "./watch_cursor.ts";
import { FeedLook } from "./feed_look.ts";

/** How a feed is watched. */
export interface WatchOptions {
  /**
   * The first sequence that is wanted, where the cursor is new; the events after
   * those that there are now unless told.
   */
  readonly from?: number | undefined;
  /** The name of the cursor: 1 to 64 letters, digits, `.`, `_`, `-`; `default`. */
  readonly cursor?: string | undefined;
  /** Ends after one look; a failure is thrown then, whatever it is. */
  readonly once?: boolean | undefined;
  /** Milliseconds between two looks; 30,000 unless told. */
  readonly intervalMs?: number | undefined;
  /** Ends it; an event that was handed out is still yours to finish. */
  readonly signal?: AbortSignal | undefined;
  /** Told why a look failed, and in how many milliseconds the next one is. */
  readonly onRetry?: ((error: unknown, waitMs: number) => void) | undefined;
}

/** Options of {@linkcode watchIssuer}. */
export interface WatchIssuerOptions
  extends WatchOptions, FeedPolicy, LoadIssuerOptions {
  /** The clock. */
  readonly now: () => Date;
  /** What a local source is called in the store: its real path. */
  readonly place?: string | undefined;
  /** Keeps the cursor, and remembers an issuer whose origin is proven. */
  readonly pins?: PinStore | undefined;
  /** With `pins`: the issuer must be there already. */
  readonly requirePin?: boolean | undefined;
}

/** A verified event of a feed that is watched. */
export interface WatchedEvent {
  /** Its sequence. */
  readonly sequence: number;
  /** Its `event_id`. */
  readonly event_id: string;
  /** The event. */
  readonly event: SigEvent | UnknownEvent;
  /** The key that signed it. */
  readonly kid: string;
}

const DEFAULT_INTERVAL_MS = 30_000;
/** Failures make the wait longer, up to this, or the interval if it is more. */
const MAX_WAIT_MS = 5 * 60_000;

/**
 * Hands out each newly verified event once, in order, across restarts: the
 * cursor moves when the next event is asked for, so an event whose turn ended
 * with an error, or a crash, comes again. Nothing is handed out of a feed that
 * is not valid as a whole.
 *
 * What can't be reached is tried again, ever more rarely. A fault and a
 * contradiction to what is remembered end it.
 *
 * @throws {SigError} as `verifyIssuer`; `feed_rolled_back` and the like (PROTOCOL
 * §6); `store_unavailable`, also when two watch with one cursor;
 * `invalid_request` for the name of a cursor.
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
  const cursor = await WatchCursor.open(
    pins,
    options.cursor ?? "default",
    place,
  );
  const look = new FeedLook(location, options, cursor.at?.pin ?? null);
  const stop = new Promise<undefined>((resolve) => {
    if (signal?.aborted) resolve(undefined);
    signal?.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  for (let failures = 0;;) {
    let waitMs = intervalMs;
    const found = await Promise.race([
      look.at(cursor.at, from).catch((error: unknown) => ({ error })),
      stop,
    ]);
    if (found === undefined) return;
    if ("error" in found) {
      const { error } = found;
      if (once || !isPassing(error)) throw error;
      waitMs = waitAfter(++failures, intervalMs, error);
      options.onRetry?.(error, waitMs);
    } else {
      failures = 0;
      if (cursor.at === undefined) await cursor.move(found.start);
      for (const { event, kid } of found.events) {
        const { sequence, event_id } = event;
        if (sequence >= (from ?? 1)) yield { sequence, event_id, event, kid };
        await cursor.move(found.after(event));
        if (signal?.aborted) return;
      }
    }
    if (once || await isStoppedWithin(waitMs, stop)) return;
  }
}

/** Whether it may be better later. */
function isPassing(error: unknown): boolean {
  return isSigError(error) && error.category === "unavailable";
}

/** Twice as long after each failure, and not all at the same moment. */
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

async function isStoppedWithin(
  ms: number,
  stop: Promise<undefined>,
): Promise<boolean> {
  const over = Promise.withResolvers<true>();
  const timer = setTimeout(() => over.resolve(true), ms);
  try {
    return await Promise.race([over.promise, stop]) === undefined;
  } finally {
    clearTimeout(timer);
  }
}
