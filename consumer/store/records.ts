/** Records of one kind as values. @module */

import {
  listRecords,
  type RecordKind,
  type RecordStore,
  storeUnavailable,
} from "./record_store.ts";

/** Values of one kind by id. */
export interface Records<T> {
  /** Returns the value, or undefined if there is none. */
  get(id: string, at: Date): Promise<T | undefined>;
  /** Returns the value with its version, for a later {@linkcode change}. */
  find(id: string, at: Date): Promise<Found<T> | undefined>;
  /**
   * Stores a new value until it expires (null: never). Returns whether the id
   * was free.
   */
  create(
    id: string,
    value: T,
    expiresAt: Date | null,
    at: Date,
  ): Promise<boolean>;
  /**
   * Changes a stored value. `next` is called again with the newer value after
   * each conflict, and may return undefined to leave the value unchanged.
   *
   * @param options.found A value found before, which is tried first. It may be
   * outdated: its change then fails and is repeated with the newer value.
   * `next` must therefore return undefined only if that is right for an
   * outdated value too.
   */
  change(
    id: string,
    at: Date,
    next: (value: T) => T | undefined,
    options?: ChangeOptions<T>,
  ): Promise<Changed<T>>;
  /** Removes a value and returns it. Of concurrent calls only one gets it. */
  take(id: string, at: Date): Promise<T | undefined>;
  /** Yields all values, page by page. */
  list(at: Date): AsyncIterable<readonly [id: string, value: T]>;
}

/** A value that was found. */
export interface Found<T> {
  /** The value. */
  readonly value: T;
  /** Its version in the store. */
  readonly version: string;
  /** When it expires, in milliseconds since 1970; null: never. */
  readonly expiresAtMs: number | null;
}

/** Options of a change. */
export interface ChangeOptions<T> {
  /** The new expiry (default: unchanged). */
  readonly expiresAt?: Date | undefined;
  /** The value found before (default: it is read). */
  readonly found?: Found<T> | undefined;
}

/** The result of a change. */
export interface Changed<T> {
  /** The value of the last call of `next`; undefined if there is none. */
  readonly before: T | undefined;
  /** The changed value; undefined if it was not changed. */
  readonly after: T | undefined;
}

/**
 * Returns access to the records of a kind as values, which are stored as JSON.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function recordsOf<T>(
  store: RecordStore,
  kind: RecordKind,
): Records<T> {
  const read = (text: string): T => {
    try {
      return JSON.parse(text) as T;
    } catch {
      // No cause, because it would quote the text.
      throw storeUnavailable(
        store.place,
        `a record of the kind ${kind.name} is damaged`,
      );
    }
  };
  const find: Records<T>["find"] = async (id, at) => {
    const found = await store.get(kind, id, at);
    if (found === undefined) return undefined;
    const { text, version, expiresAtMs } = found;
    return { value: read(text), version, expiresAtMs };
  };
  return {
    get: async (id, at) => (await find(id, at))?.value,
    find,
    create: (id, value, expiresAt, at) =>
      store.put(
        kind,
        id,
        {
          text: JSON.stringify(value),
          expiresAtMs: expiresAt?.getTime() ?? null,
        },
        null,
        at,
      ),
    async change(id, at, next, { expiresAt, found: known } = {}) {
      for (let found = known;; found = undefined) {
        found ??= await find(id, at);
        if (found === undefined) return { before: undefined, after: undefined };
        const { value: before, version, expiresAtMs } = found;
        const after = next(before);
        if (after === undefined) return { before, after };
        const record = {
          text: JSON.stringify(after),
          expiresAtMs: expiresAt?.getTime() ?? expiresAtMs,
        };
        if (await store.put(kind, id, record, version, at)) {
          return { before, after };
        }
      }
    },
    async take(id, at) {
      const taken = await store.take(kind, id, at);
      return taken && read(taken.text);
    },
    async *list(at) {
      for await (const { id, text } of listRecords(store, kind, at)) {
        yield [id, read(text)];
      }
    },
  };
}
