/** The contract of the record store: pins, sessions, challenges and the like. @module */

import { isSigError, SigError } from "@sig/core";

/**
 * Maximum size of a record's text in bytes of UTF-8. Deno KV accepts 64 KiB.
 */
export const MAX_RECORD_BYTES = 60_000;

/** A kind of record, with separate limits. */
export interface RecordKind {
  /** Lower-case letters and `_`; part of the keys in the database. */
  readonly name: string;
  /** Maximum number of records of this kind (default: no limit). */
  readonly maxRecords?: number;
  /**
   * Maximum memory of their texts in bytes. Applied by the memory driver only.
   */
  readonly maxBytes?: number;
}

/** A record to be written. */
export interface NewRecord {
  /** Any text of at most {@linkcode MAX_RECORD_BYTES}. */
  readonly text: string;
  /** When the record expires, in milliseconds since 1970; null: never. */
  readonly expiresAtMs: number | null;
}

/** A stored record with its version. */
export interface StoredRecord extends NewRecord {
  /** Changes with every write, even of the same text. Never empty. */
  readonly version: string;
}

/** A page of the records of a kind. */
export interface RecordPage {
  /** The records of the page, in no particular order. */
  readonly records: readonly (StoredRecord & { readonly id: string })[];
  /** Position of the next page; absent on the last page. */
  readonly next?: string;
}

/**
 * Keeps short texts by kind and id, for one process or for many. Each driver
 * must follow these rules, which `@sig/consumer/store-contract` tests:
 *
 * - The clock is always `at`, never the store's own. An expired record is not
 *   there, whether it was removed or not.
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
  /** Path or address for messages, without a password. */
  readonly place: string;
  /**
   * Returns the record, or undefined if there is none.
   *
   * @throws {SigError} `store_unavailable`.
   */
  get(
    kind: RecordKind,
    id: string,
    at: Date,
  ): Promise<StoredRecord | undefined>;
  /**
   * Writes a record over the given version, or creates it (`null`). Returns
   * whether it was written.
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
   * Removes the record and returns it, or undefined if there was none.
   *
   * @throws {SigError} `store_unavailable`; the record may have been removed
   * then.
   */
  take(
    kind: RecordKind,
    id: string,
    at: Date,
  ): Promise<StoredRecord | undefined>;
  /**
   * Returns a page of a kind's records, from the start or from `next` of a
   * page.
   *
   * @throws {SigError} `store_unavailable`.
   */
  list(kind: RecordKind, at: Date, from?: string): Promise<RecordPage>;
  /** Closes connections and files. Can be called more than once. */
  close(): Promise<void>;
}

/** Yields a kind's records, page by page; a record may come twice. */
export async function* listRecords(
  store: Pick<RecordStore, "list">,
  kind: RecordKind,
  at: Date,
): AsyncGenerator<RecordPage["records"][number]> {
  let from: string | undefined;
  do {
    const page = await store.list(kind, at, from);
    yield* page.records;
    from = page.next;
  } while (from !== undefined);
}

/** Creates the error of a store that can't be used. */
export type Unavailable = (
  why: string,
  cause?: unknown,
  hint?: string,
) => SigError;

/** How a store appears in errors. */
export interface ShownStore {
  /** Path or address, without a password. */
  readonly place: string;
  /** Creates the errors of the store. */
  readonly unavailable: Unavailable;
}

/**
 * Creates a `store_unavailable` error with the place of the store. The
 * database's own message is only in the cause.
 */
export function storeUnavailable(
  place: string,
  why: string,
  cause?: unknown,
  hint = "Try again in a moment.",
): SigError {
  if (isSigError(cause, "store_unavailable")) return cause;
  return new SigError("store_unavailable", {
    action: `use store ${place}`,
    reason: why,
    context: {
      place,
      // Distinguishes a missing permission from a failing store.
      ...(FORBIDDEN.test(String(cause)) ? { reason: "permission" } : {}),
      hint,
    },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** In the text of an error with which Deno refuses for lack of a permission. */
export const FORBIDDEN = /NotCapable|Requires \w+ access/;

/** Returns whether a record has not expired; false for an invalid date. */
export function isLive(
  { expiresAtMs }: Pick<NewRecord, "expiresAtMs">,
  at: Date,
): boolean {
  return expiresAtMs === null || at.getTime() < expiresAtMs;
}

/**
 * Refuses a text over the limit, the same in every driver.
 *
 * @throws {SigError} the error of `unavailable`.
 */
export function requireRecordSize(
  text: string,
  unavailable: Unavailable,
): void {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= MAX_RECORD_BYTES) return;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= MAX_RECORD_BYTES) return;
  throw unavailable(
    `a record of ${bytes} bytes exceeds ${MAX_RECORD_BYTES}`,
    undefined,
    "Report this: no record of this program should be that long.",
  );
}

/** Seconds after which a client may retry if a kind is full. */
const RETRY_SECONDS = 30;

/** Creates the error of a full kind. */
export function kindFull(kind: RecordKind): SigError {
  return new SigError("rate_limited", {
    action: `store ${kind.name}`,
    reason: "the limit is reached",
    context: {
      ...(kind.maxRecords === undefined ? {} : { limit: kind.maxRecords }),
      retry_after_seconds: RETRY_SECONDS,
      hint: "Try again later.",
    },
  });
}
