/** The contract of the record store: pins, sessions, challenges and the like. @module */

import { isSigError, SigError } from "@sig/core";

/** The longest text of a record, in bytes of UTF-8: Deno KV takes 64 KiB. */
export const MAX_RECORD_BYTES = 60_000;

/** A kind of record, with limits of its own. */
export interface RecordKind {
  /** Lower-case letters and `_`; part of the keys in the database. */
  readonly name: string;
  /** Most records of this kind (default: no limit). */
  readonly maxRecords?: number;
  /** Most memory of their texts, in bytes; only the memory driver counts it. */
  readonly maxBytes?: number;
}

/** What is written. */
export interface NewRecord {
  /** Any text of up to {@linkcode MAX_RECORD_BYTES}. */
  readonly text: string;
  /** The record ends at this instant, in milliseconds since 1970; null: never. */
  readonly expiresAtMs: number | null;
}

/** What was written, with its version. */
export interface StoredRecord extends NewRecord {
  /** Changes with every write, also of the same text. Never empty. */
  readonly version: string;
}

/** Some of the records of a kind. */
export interface RecordPage {
  /** The records, in no particular order. */
  readonly records: readonly (StoredRecord & { readonly id: string })[];
  /** Where the next page begins; absent on the last page. */
  readonly next?: string;
}

/**
 * Keeps short texts by kind and id, for one process or for many. Each driver
 * must follow these rules, which `@sig/consumer/store-contract` tests:
 *
 * - The clock is always `at`, never the store's own. An expired record is not
 *   there, whether it was swept or not.
 * - `put` and `take` are atomic across all processes that share the store: of
 *   parallel puts over one version exactly one is written, of parallel takes
 *   exactly one gets the record.
 * - A kind that is full (`maxRecords`, `maxBytes`) refuses new records; records
 *   that are there can still be changed.
 * - The pages of `list` contain at least every record that was there from the
 *   first page to the last; a record may come twice.
 * - A busy database is retried for a few seconds. A database that does not
 *   respond is `store_unavailable`, never "not there".
 * - Errors contain neither credentials nor stored texts.
 */
export interface RecordStore {
  /** Where it is, for messages; without a password. */
  readonly place: string;
  /**
   * Returns the record, or undefined where there is none.
   *
   * @throws {SigError} `store_unavailable`.
   */
  get(
    kind: RecordKind,
    id: string,
    at: Date,
  ): Promise<StoredRecord | undefined>;
  /**
   * Writes over the version that was read, or where there is no record
   * (`null`). Returns whether it was written.
   *
   * @throws {SigError} `store_unavailable`, also for a text that is too long;
   * `rate_limited` when the kind is full.
   */
  put(
    kind: RecordKind,
    id: string,
    record: NewRecord,
    over: string | null,
    at: Date,
  ): Promise<boolean>;
  /**
   * Removes the record and returns it, or undefined where there was none.
   *
   * @throws {SigError} `store_unavailable`; it may have been removed then.
   */
  take(
    kind: RecordKind,
    id: string,
    at: Date,
  ): Promise<StoredRecord | undefined>;
  /**
   * Returns a page of a kind's records.
   *
   * @throws {SigError} `store_unavailable`.
   */
  list(kind: RecordKind, at: Date, from?: string): Promise<RecordPage>;
  /** Closes connections and files; a second call does nothing. */
  close(): Promise<void>;
}

/** Makes the error of a store that can't be used. */
export type Unavailable = (
  why: string,
  cause?: unknown,
  hint?: string,
) => SigError;

/** How the errors of a store name it. */
export interface ShownStore {
  /** Where it is; without a password. */
  readonly place: string;
  /** Makes its errors. */
  readonly unavailable: Unavailable;
}

/**
 * `store_unavailable` with the place of the store. The message is ours; the
 * database's own text is only in the cause.
 */
export function storeUnavailable(
  place: string,
  why: string,
  cause?: unknown,
  hint = "Try again in a moment.",
): SigError {
  if (isSigError(cause, "store_unavailable")) return cause;
  return new SigError(
    "store_unavailable",
    `Cannot use store ${place}: ${why}`,
    {
      context: {
        place,
        // Tells a program that lacks a permission from a store that failed.
        ...(isForbidden(cause) ? { reason: "permission" } : {}),
        hint,
      },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

function isForbidden(cause: unknown): boolean {
  return cause instanceof Error &&
    (cause.name === "NotCapable" || /Requires \w+ access/.test(cause.message));
}

/** Whether a record is still there; false for a clock that is not a number. */
export function isLive(
  { expiresAtMs }: Pick<NewRecord, "expiresAtMs">,
  at: Date,
): boolean {
  return expiresAtMs === null || at.getTime() < expiresAtMs;
}

/**
 * Refuses a text that a driver could not write, in every driver alike.
 *
 * @throws {SigError} what `unavailable` makes.
 */
export function requireRecordSize(
  text: string,
  unavailable: Unavailable,
): void {
  // A character has at most three bytes.
  if (text.length * 3 <= MAX_RECORD_BYTES) return;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= MAX_RECORD_BYTES) return;
  throw unavailable(
    `a record of ${bytes} bytes exceeds ${MAX_RECORD_BYTES}`,
    undefined,
    "Report this: no record of this program should be that long.",
  );
}

/** Seconds after which a client may retry while a kind is full. */
const RETRY_SECONDS = 30;

/** The error of a kind that is full. */
export function kindFull(kind: RecordKind): SigError {
  return new SigError(
    "rate_limited",
    `Cannot store ${kind.name}: the limit is reached`,
    {
      context: {
        ...(kind.maxRecords === undefined ? {} : { limit: kind.maxRecords }),
        retry_after_seconds: RETRY_SECONDS,
        hint: "Try again later.",
      },
    },
  );
}
