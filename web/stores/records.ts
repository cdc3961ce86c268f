/** Records of one kind as values. @module */

import type { RecordKind, RecordStore } from "./record_store.ts";
import { storeUnavailable } from "./store_unavailable.ts";

/** Values of one kind by their ids. */
export interface Records<T> {
  /** The value, if it is there. */
  get(id: string, at: Date): Promise<T | undefined>;
  /** What changes with every change of it, if it is there. */
  versionOf(id: string, at: Date): Promise<string | undefined>;
  /** The value for who is about to change it, and spares reading it again. */
  find(id: string, at: Date): Promise<Found<T> | undefined>;
  /** Keeps a new value until it expires; says whether the id was free. */
  create(id: string, value: T, expiresAt: Date, at: Date): Promise<boolean>;
  /**
   * Changes a value that is there, again and again until nobody was faster.
   * `next` may answer undefined to leave it as it is, and is asked again with
   * each newer value; the outcome is what it was asked with last, and whether it
   * was changed.
   *
   * @param options.found What was found before, to be tried first. It may be old
   * by now: a change of it fails then and is made anew of the newer value, but
   * `next` may leave alone only what would stay so.
   */
  change(
    id: string,
    at: Date,
    next: (value: T) => T | undefined,
    options?: ChangeOptions<T>,
  ): Promise<Changed<T>>;
  /** Removes a value; of any number of takers one gets it. */
  take(id: string, at: Date): Promise<T | undefined>;
  /** All that are there, page by page. */
  list(at: Date): AsyncIterable<readonly [id: string, value: T]>;
}

/** A value as it was found. */
export interface Found<T> {
  /** The value. */
  readonly value: T;
  /** Its version in the store. */
  readonly version: string;
  /** From this instant on it is not there, in milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** How a value is changed. */
export interface ChangeOptions<T> {
  /** When it expires from then on; as before unless told. */
  readonly expiresAt?: Date | undefined;
  /** What was found before; it is read unless told. */
  readonly found?: Found<T> | undefined;
}

/** What came of a change. */
export interface Changed<T> {
  /** The value before it, or as it was left; undefined: there is none. */
  readonly before: T | undefined;
  /** The value after it; undefined: it was left. */
  readonly after: T | undefined;
}

/**
 * Makes the values of a kind out of a store; they are kept as JSON.
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
      // Without the cause: it quotes the text.
      throw storeUnavailable("it holds something else than records");
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
    versionOf: async (id, at) => (await store.get(kind, id, at))?.version,
    find,
    create: (id, value, expiresAt, at) =>
      store.put(
        kind,
        id,
        { text: JSON.stringify(value), expiresAtMs: expiresAt.getTime() },
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
