/**
 * Keeps the pin of one issuer, in a store or in this process. Every write is a
 * compare-and-set: a result that was compared with an older pin is not written.
 *
 * @module
 */

import { isObject } from "@sig/core/internal";
import { type RecordStore, storeUnavailable } from "../store/record_store.ts";
import { type KnownPin, type Pin, UNKNOWN } from "./pin.ts";
import { decodePin, encodePin, PINS } from "./pin_record.ts";

/** A pin as it was read or written. */
export interface KeptPin {
  readonly pin: Pin;
  /** The record's text and version; null if there is no record. */
  readonly record: { readonly text: string; readonly version: string } | null;
}

const NOTHING_KEPT: KeptPin = { pin: UNKNOWN, record: null };

/** Attempts to write while other processes write the same history. */
const MAX_WRITES = 32;

/** Attempts of work while other processes write another history. */
const MAX_ATTEMPTS = 8;

/** How a {@linkcode PinKeeper} keeps its pin. */
export interface KeeperOptions {
  /** A store, shared with other processes (default: this process). */
  readonly store?: RecordStore | undefined;
  /** The pin to begin with, without a store (default: unknown). */
  readonly begin?: Pin | undefined;
  /**
   * Whether the issuer is not on the list: a contradiction removes its pin, and
   * answers are `unpinned` (default: false).
   */
  readonly forgets?: boolean | undefined;
}

/** Keeps the pin of one issuer. */
export class PinKeeper {
  /** Whether a contradiction removes the pin. */
  readonly forgets: boolean;
  readonly #issuer: string;
  readonly #store: RecordStore | undefined;
  #kept: KeptPin;

  /** @param issuer The issuer's DID. */
  constructor(
    issuer: string,
    { store, begin = UNKNOWN, forgets = false }: KeeperOptions = {},
  ) {
    this.#issuer = issuer;
    this.#store = store;
    this.#kept = { pin: begin, record: null };
    this.forgets = forgets;
  }

  /**
   * Returns the pin. All processes rely on what any of them has seen.
   *
   * @throws {SigError} `store_unavailable`
   */
  async read(now: Date): Promise<KeptPin> {
    const store = this.#store;
    if (store === undefined) return this.#kept;
    const found = await store.get(PINS, this.#issuer, now);
    const before = this.#kept;
    if (found?.version === before.record?.version) return before;
    if (found === undefined) return this.#kept = NOTHING_KEPT;
    const { text, version } = found;
    const pin = text === before.record?.text
      ? before.pin
      : await decodePin(store.place, this.#issuer, text);
    return this.#kept = { pin, record: { text, version } };
  }

  /**
   * Writes a pin over the one that was read, even if the same history was
   * written since: the later times are kept.
   *
   * For example, the store has a pin of 5 events, version v1. Processes A and B
   * read it, then read the issuer, and A writes first:
   *
   * 1. A puts its pin over v1: it becomes v2.
   * 2. B's put over v1 would fail. B reads v2, and compares it with what it read
   *    (5 events) and with what it wants to write.
   *    - A has only seen the 5 events again: B puts its pin over v2.
   *    - A wrote what B wants to write, for example 6 events: only the later
   *      times are put over v2; nothing, if those of v2 are later.
   *    - A wrote something else (7 events, a contradiction, a removed pin):
   *      A wins. B returns undefined, and its whole read is repeated
   *      (`repeat`), compared with A's pin.
   * 3. If a third process writes between B's read and B's put, the put fails,
   *    and step 2 is repeated.
   *
   * @returns What is kept now; undefined if it is another history: the work
   * must be repeated.
   * @throws {SigError} `store_unavailable`
   */
  async write(
    before: KeptPin,
    pin: KnownPin,
    now: Date,
  ): Promise<KeptPin | undefined> {
    for (let attempt = 0; attempt < MAX_WRITES; attempt++) {
      const there = await this.read(now);
      let after = pin;
      if (there !== before && there.pin.status !== "unknown") {
        after = withLaterTimes(pin, there.pin);
        const isOurs = isSameHistory(there.pin, pin);
        const isUnchanged = isSameHistory(there.pin, before.pin);
        if (isOurs && after.last_seen === there.pin.last_seen) return there;
        if (!isOurs && !isUnchanged) return undefined;
      } else if (there.pin.status !== before.pin.status) return undefined;
      const written = await this.#swap(there, after, now);
      if (written !== undefined) return written;
    }
    throw this.#busy();
  }

  /** Removes the pin of this process. */
  forget(): void {
    this.#kept = NOTHING_KEPT;
  }

  /**
   * Runs work, and again while it returns undefined because the pin has
   * changed, at most 8 times.
   *
   * @throws {SigError} `store_unavailable`, and the errors of the work.
   */
  async repeat<T>(work: () => Promise<T | undefined>): Promise<T> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const result = await work();
      if (result !== undefined) return result;
    }
    throw this.#busy();
  }

  /** Creates the error of a pin that is required. */
  missing(): Error {
    return storeUnavailable(
      this.#place,
      `it has no pin of ${this.#issuer}`,
      undefined,
      "It may have been emptied. Without --require-pin the issuer is read as if for the first time.",
    );
  }

  get #place(): string {
    return this.#store?.place ?? "in memory";
  }

  #busy(): Error {
    return storeUnavailable(this.#place, "other processes keep changing it");
  }

  async #swap(
    there: KeptPin,
    pin: KnownPin,
    now: Date,
  ): Promise<KeptPin | undefined> {
    const store = this.#store;
    if (store === undefined) {
      return this.#kept === there
        ? this.#kept = { pin, record: null }
        : undefined;
    }
    const text = await encodePin(pin);
    if (text === there.record?.text) return there;
    const record = { text, expiresAtMs: null };
    const over = there.record?.version ?? null;
    const isWritten = await store.put(PINS, this.#issuer, record, over, now);
    // A put does not return the version: the next read learns it, and recognises
    // the text. No record has the version "".
    return isWritten
      ? this.#kept = { pin, record: { text, version: "" } }
      : undefined;
  }
}

function withLaterTimes(pin: KnownPin, there: KnownPin): KnownPin {
  const { last_seen } = there;
  const feed = there.feed && pin.feed && {
    ...pin.feed,
    read_at: laterOf(there.feed.read_at, pin.feed.read_at),
    compared_at: laterOf(there.feed.compared_at, pin.feed.compared_at),
  };
  return {
    ...pin,
    last_seen: laterOf(last_seen, pin.last_seen),
    ...(feed && { feed }),
  };
}

function laterOf(a: string, b: string): string {
  return Date.parse(a) > Date.parse(b) ? a : b;
}

/** Whether two pins differ only in when and how the issuer was last read. */
function isSameHistory(a: Pin, b: Pin): boolean {
  return historyOf(a) === historyOf(b);
}

function historyOf(pin: Pin): string {
  if (pin.status === "unknown") return pin.status;
  const { last_seen: _, feed, ...rest } = pin;
  const { etag: _e, compared_at: _c, read_at: _r, ...bytes } = feed ?? {};
  return canonical({ ...rest, feed: bytes });
}

/** Returns JSON with sorted members. */
export function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_name, each) =>
      isObject(each)
        ? Object.fromEntries(
          Object.entries(each).sort(([a], [b]) => a < b ? -1 : 1),
        )
        : each,
  );
}
