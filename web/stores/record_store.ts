/** The contract of what keeps sessions, codes and the like. @module */

import { SigError } from "@sig/core";

/** A kind of record. */
export type RecordKind =
  | "interaction"
  | "session"
  | "person"
  | "grant"
  | "assertion"
  | "gate"
  | "logout";

/**
 * What is kept, and how many at most: each kind has a room of its own, so that
 * a flood of what strangers can make pushes out nothing of those who logged in.
 */
export const RECORD_LIMITS: Readonly<Record<RecordKind, number>> = Object
  .freeze({
    /** Requests to log in that wait for a person; strangers make them. */
    interaction: 20_000,
    /** People who are logged in. */
    session: 200_000,
    /** Which sessions a person has, for who has any. */
    person: 200_000,
    /** What applications were given: codes, access and refresh tokens. */
    grant: 400_000,
    /** Ids of applications' own assertions, each good for once. */
    assertion: 100_000,
    /** Codes on their way to hosts behind a proxy; for those logged in. */
    gate: 100_000,
    /** Logout tokens on their way. */
    logout: 200_000,
  });

/** A record as it is kept. */
export interface StoredRecord {
  /** What was put. */
  readonly text: string;
  /** Changes with every put. */
  readonly version: string;
  /** From this instant on it is not there, in milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** Some of the records of a kind. */
export interface RecordPage {
  /** The records, in no order that means anything. */
  readonly records: readonly (StoredRecord & { readonly id: string })[];
  /** Where the next page begins; absent: there is none. */
  readonly next?: string;
}

/** What is put. */
export interface NewRecord {
  /** Any text; at most some 30,000 characters. */
  readonly text: string;
  /** From this instant on it is not there, in milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/**
 * Keeps short texts by kind and id, for one process or for many. A driver must
 * hold to this:
 *
 * - The clock is always `at`, never the store's own: what has expired by it is
 *   not there, whether swept or not.
 * - `put` and `take` are atomic across every process that shares the store: of
 *   parallel puts over one version exactly one is written, of parallel takes
 *   exactly one gets the record.
 * - Each kind is bounded by {@linkcode RECORD_LIMITS}; one that is full refuses
 *   new records, and changes of old ones go on.
 * - `list` shows, over all its pages, at least every record that was there
 *   from the first page to the last; one may come twice.
 * - What is busy is tried again within a few seconds; what can't be asked is
 *   `store_unavailable`, never "not there".
 *
 * The tests of the three drivers here (`@sig/web/store-contract`) fit others.
 */
export interface RecordStore {
  /**
   * The record, if it is there.
   *
   * @throws {SigError} `store_unavailable`.
   */
  get(
    kind: RecordKind,
    id: string,
    at: Date,
  ): Promise<StoredRecord | undefined>;
  /**
   * Writes over the version that was read, or where nothing is (`null`); says
   * whether it did.
   *
   * @throws {SigError} `store_unavailable`; `rate_limited` while the kind is
   * full.
   */
  put(
    kind: RecordKind,
    id: string,
    record: NewRecord,
    over: string | null,
    at: Date,
  ): Promise<boolean>;
  /**
   * Removes the record and answers what it was; undefined when it was not there.
   *
   * @throws {SigError} `store_unavailable`. It may be removed then.
   */
  take(
    kind: RecordKind,
    id: string,
    at: Date,
  ): Promise<StoredRecord | undefined>;
  /**
   * A page of a kind's records.
   *
   * @throws {SigError} `store_unavailable`.
   */
  list(kind: RecordKind, at: Date, from?: string): Promise<RecordPage>;
  /** Gives connections and files back; a second call does nothing. */
  close(): Promise<void>;
}

/** Seconds after which one may try again where a kind is full. */
const RETRY_SECONDS = 30;

/** The error of a kind that is full. */
export function kindFull(kind: RecordKind, limit: number): SigError {
  return new SigError(
    "rate_limited",
    `Cannot keep ${kind}: there are too many`,
    {
      context: {
        limit,
        retry_after_seconds: RETRY_SECONDS,
        hint: "Try again later.",
      },
    },
  );
}
