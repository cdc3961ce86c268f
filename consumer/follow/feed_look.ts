/** One look at a feed that is watched, and another. @module */

import { isSigError, SigError } from "@sig/core";
import type { IssuerPin } from "../pins/issuer_pin.ts";
import {
  type PinStore,
  pinStoreUnavailable,
  StateMoved,
} from "../pins/pin_store.ts";
import type { StoredState } from "../pins/stored_state.ts";
import type { ProvenLocation } from "../read/source.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import type { FeedPolicy, VerifiedEvent } from "../verify/verified_feed.ts";
import { type IssuerRecord, recordOf } from "./issuer_record.ts";
import { type Refresh, refreshIssuer } from "./refresh_issuer.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import type { SeenHistory } from "./seen_history.ts";
import { SignatureWorkers } from "../verify/signature_workers.ts";
import { BEGIN_ANEW, type CursorPosition } from "./watch_cursor.ts";

/** Options of {@linkcode FeedLook}. */
export interface FeedLookOptions extends FeedPolicy, LoadIssuerOptions {
  /** The clock. */
  readonly now: () => Date;
  /** Remembers an issuer whose origin is proven. */
  readonly pins?: PinStore | undefined;
  /** With `pins`: it must be there already. */
  readonly requirePin?: boolean | undefined;
}

/** What a look found, when all of it was in order. */
export interface Looked {
  /** Those after the cursor, in order, none missing. */
  readonly events: readonly VerifiedEvent[];
  /** Where a cursor that is new begins. */
  readonly start: CursorPosition;
  /** Where the cursor is after one of them; asked once for each, in order. */
  after(event: VerifiedEvent["event"]): CursorPosition;
}

/** How often another process may be faster before we give up. */
const MAX_ATTEMPTS = 5;

/** Before a local feed that was wrong is looked at again: it may be growing. */
const LOCAL_PAUSE_MS = 250;

/** What was read, and who is told of it. */
interface Read {
  readonly last: number;
  readonly lastEventId: string | null;
  /** Where the state is kept, if it is. */
  readonly stored: StoredState | undefined;
  /** Those that were verified just now, from the cursor on. */
  readonly events: ReadonlyMap<number, VerifiedEvent>;
}

/** Looks at one feed again and again, and verifies what is new. */
export class FeedLook {
  readonly #location: IssuerLocation;
  readonly #options: FeedLookOptions;
  readonly #store: PinStore | undefined;
  readonly #workers = new SignatureWorkers();
  #record: IssuerRecord;

  /**
   * @param pin What the feed is compared with where no store remembers its
   * issuer.
   */
  constructor(
    location: IssuerLocation,
    options: FeedLookOptions,
    pin: IssuerPin | null,
  ) {
    this.#location = location;
    this.#options = options;
    this.#store = isProven(location) ? options.pins : undefined;
    this.#record = recordOf(
      pin === null
        ? undefined
        : { pin, inconsistency: undefined, keysRefetchedAt: undefined },
    );
  }

  /**
   * Looks for what comes after the cursor; where that is new, for what begins
   * with `from`, or comes after what there is now.
   *
   * @throws {SigError} as `watchIssuer`.
   */
  async at(
    cursor: CursorPosition | undefined,
    from: number | undefined,
  ): Promise<Looked> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        return await this.#look(cursor, from);
      } catch (error) {
        if (!(error instanceof StateMoved)) throw error;
        // Another process put another state there while we read.
      }
    }
    throw pinStoreUnavailable(
      this.#store!.place,
      "other processes keep changing it",
    );
  }

  async #look(
    cursor: CursorPosition | undefined,
    from: number | undefined,
  ): Promise<Looked> {
    const after = cursor?.sequence ?? (from ?? Infinity) - 1;
    let found = await this.#readGrowing(after, false);
    // Another process, or a watcher with another cursor, was here before.
    if (!isWhole(found, after)) found = await this.#readGrowing(after, true);
    const { last, lastEventId, events } = found;
    if (cursor !== undefined) requireSame(cursor, found);
    const pin = this.#store === undefined
      ? this.#record.held?.reduced ?? null
      : null;
    const sequence = Math.min(after, last);
    const history = await this.#openHistory(found, cursor, sequence);
    return {
      events: rangeOf(events, sequence + 1, last),
      start: {
        sequence,
        event_id: sequence === last
          ? lastEventId
          : events.get(sequence)?.event.event_id ?? null,
        pin,
        history: history?.seen,
      },
      after: ({ sequence, event_id }) => ({
        ...{ sequence, event_id, pin },
        history: history?.next(),
      }),
    };
  }

  async #openHistory(
    { stored }: Read,
    cursor: CursorPosition | undefined,
    events: number,
  ): Promise<SeenHistory | undefined> {
    if (stored === undefined) return undefined;
    const { openSeenHistory } = await import("./seen_history.ts");
    return await openSeenHistory(stored, cursor ?? {}, events);
  }

  /** A file may be read while somebody writes it. */
  async #readGrowing(after: number, full: boolean): Promise<Read> {
    try {
      return await this.#read(after, full);
    } catch (error) {
      const mayBeGrowing = !isProven(this.#location) && isSigError(error) &&
        error.category === "invalid";
      if (!mayBeGrowing) throw error;
      await new Promise((done) => setTimeout(done, LOCAL_PAUSE_MS));
      return await this.#read(after, full);
    }
  }

  async #read(after: number, full: boolean): Promise<Read> {
    const events = new Map<number, VerifiedEvent>();
    const options = {
      ...this.#options,
      workers: this.#workers,
      now: this.#options.now(),
      report: false,
      onEvent: (verified: VerifiedEvent) => {
        const { sequence } = verified.event;
        if (sequence >= after) events.set(sequence, verified);
      },
    };
    const { record, outcome } = await this.#refresh(options, full);
    this.#record = record;
    if (outcome.observation === undefined) throw outcome.error;
    const { sequence, last_event_id } = record.held!.pin;
    const { stored } = outcome.observation;
    return { last: sequence, lastEventId: last_event_id, stored, events };
  }

  async #refresh(options: RefreshOptions, full: boolean): Promise<Refresh> {
    const location = this.#location;
    if (this.#store === undefined || !isProven(location)) {
      const record = full ? recordOf(this.#record.pinned) : this.#record;
      return await refreshIssuer(location, record, options);
    }
    const { requirePin } = this.#options;
    const { refreshRemembered } = await import("./refresh_remembered.ts");
    return await refreshRemembered(this.#store, location, {
      ...options,
      full,
      requirePin,
    });
  }
}

function isProven(location: IssuerLocation): location is ProvenLocation {
  return location.expectedIssuer !== undefined;
}

/** Whether everything after the cursor was verified just now. */
function isWhole({ last, events }: Read, after: number): boolean {
  for (let sequence = after + 1; sequence <= last; sequence++) {
    if (!events.has(sequence)) return false;
  }
  return true;
}

function rangeOf(
  events: ReadonlyMap<number, VerifiedEvent>,
  first: number,
  last: number,
): readonly VerifiedEvent[] {
  const range: VerifiedEvent[] = [];
  for (let sequence = first; sequence <= last; sequence++) {
    range.push(events.get(sequence)!);
  }
  return range;
}

/** The cursor remembers too, where the store has forgotten the issuer. */
function requireSame(
  { sequence, event_id }: CursorPosition,
  { last, lastEventId, events }: Read,
): void {
  if (last < sequence) {
    throw new SigError(
      "feed_rolled_back",
      `Cannot watch: the feed ends at sequence ${last}, and event ${sequence} ` +
        "was seen",
      {
        context: {
          seen_sequence: sequence,
          fetched_sequence: last,
          hint: BEGIN_ANEW,
        },
      },
    );
  }
  const found = sequence === last
    ? lastEventId
    : events.get(sequence)?.event.event_id ?? event_id;
  if (event_id === null || found === event_id) return;
  throw new SigError(
    "feed_rewritten",
    `Cannot watch: event ${sequence} is another one than was seen`,
    { context: { sequence, hint: BEGIN_ANEW } },
  );
}
