/** A memory whose place is the operator's business. @module */

import type { PinStore } from "@sig/consumer/pins";
import { isSigError, SigError } from "@sig/core";

/** What clients read in its stead: `Cannot use the memory of this server: …`. */
const HIDDEN = "of this server";

/** Milliseconds in which the same trouble is not said again. */
const QUIET_MS = 10_000;

/** What {@linkcode hidePlace} works with. */
export interface HidePlaceOptions {
  /** Tells the operator what clients are not told. */
  readonly tell: (message: string) => void;
  /** The clock. */
  readonly now: () => Date;
}

/**
 * The same store, for a server that others reach: a path of its disk, or the
 * address of its Redis, is not in any answer. The operator gets it in the log.
 *
 * @throws {SigError} from the methods as before, `store_unavailable` without the
 * place.
 */
export function hidePlace(
  store: PinStore,
  { tell, now }: HidePlaceOptions,
): PinStore {
  const told = new Map<string, number>();

  function hide(error: unknown): unknown {
    if (!isSigError(error)) return error;
    const { code, message, context, cause } = error;
    const nowMs = now().getTime();
    if (Math.abs(nowMs - (told.get(message) ?? -Infinity)) >= QUIET_MS) {
      told.clear();
      told.set(message, nowMs);
      tell(message);
    }
    return new SigError(code, message.replaceAll(store.place, HIDDEN), {
      context: "place" in context ? { ...context, place: HIDDEN } : context,
      cause,
    });
  }

  const hiding = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw hide(error);
    });
  return {
    place: HIDDEN,
    get: (issuer) => hiding(store.get(issuer)),
    list: () => hiding(store.list()),
    rows: (ref, keys) => hiding(store.rows(ref, keys)),
    async *all(ref, prefix) {
      try {
        yield* store.all(ref, prefix);
      } catch (error) {
        throw hide(error);
      }
    },
    stage: (ref, rows) => hiding(store.stage(ref, rows)),
    staged: (ref, keys) => hiding(store.staged(ref, keys)),
    unstage: (ref) => hiding(store.unstage(ref)),
    put: (entry, rows, over) => hiding(store.put(entry, rows, over)),
    remove: (issuer) => hiding(store.remove(issuer)),
    close: () => store.close(),
  };
}
