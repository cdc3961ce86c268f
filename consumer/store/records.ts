/** Records of one kind as values. @module */

import {
  type RecordKind,
  type RecordStore,
  storeUnavailable,
} from "./record_store.ts";

/** Values of one kind by their ids. */
export interface Records<T> {
  /** Returns the value, if it is there. */
  get(id: string, at: Date): Promise<T | undefined>;
  /** Returns the value with its version, for a later {@linkcode change}. */
  find(id: string, at: Date): Promise<Found<T> | undefined>;
  /** Stores a new value until it expires (null: it never does). Returns whether the id was free. */
  create(
    id: string,
    value: T,
    expiresAt: Date | null,
    at: Date,
  ): Promise<boolean>;
  /**
   * Changes a value that is there. `next` is called again with the newer value
   * whenever another process was faster, and may return undefined to leave the
   * value as it is.
   *
   * @param options.found What was found before, to be tried first. It may be
   * outdated: a change of it then fails and is repeated with the newer value, so
   * `next` may leave alone only what stays right in that case.
   */
  change(
    id: string,
    at: Date,
    next: (value: T) => T | undefined,
    options?: ChangeOptions<T>,
  ): Promise<Changed<T>>;
  /** Removes a value and returns it; of parallel takes one gets it. */
  take(id: string, at: Date): Promise<T | undefined>;
  /** All values, page by page. */
  list(at: Date): AsyncIterable<readonly [id: string, value: T]>;
}

/** A value as it was found. */
export interface Found<T> {
  /** The value. */
  readonly value: T;
  /** Its version in the store. */
  readonly version: string;
  /** When it ends, in milliseconds since 1970; null: never. */
  readonly expiresAtMs: number | null;
}

/** How a value is changed. */
export interface ChangeOptions<T> {
  /** When it expires from then on (default: as before). */
  readonly expiresAt?: Date | undefined;
  /** What was found before (default: it is read). */
  readonly found?: Found<T> | undefined;
}

/** The outcome of a change. */
export interface Changed<T> {
  /** The value that `next` was last called with; undefined: there is none. */
  readonly before: T | undefined;
  /** The value after it; undefined: it was not changed. */
  readonly after: T | undefined;
}

/**
 * The records of a kind as values, which are stored as JSON.
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
      // Without the cause, which quotes the text.
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
      let from: string | undefined;
      do {
        const page = await store.list(kind, at, from);
        for (const { id, text } of page.records) yield [id, read(text)];
        from = page.next;
      } while (from !== undefined);
    },
  };
}
