/** Refreshes an issuer that a store remembers (docs/protocol.md §6). @module */

import {
  type IssuerRecord,
  NOTHING_KNOWN,
  type Refresh,
} from "../memory/issuer_record.ts";
import { IssuerMemory, type MemoryOptions } from "../memory/memory.ts";
import {
  HistoryMoved,
  type StoredPin,
  whileOthersWrite,
} from "../memory/pin.ts";
import type { PinStore } from "../memory/sqlite_lines.ts";
import type { ProvenLocation } from "../read/source.ts";
import { storeUnavailable } from "../store/record_store.ts";
import type { RefreshOptions } from "./read_feed.ts";
import { refreshIssuer } from "./refresh.ts";

/** Options of {@linkcode refreshRemembered}. */
export type RememberOptions = MemoryOptions & RefreshOptions & {
  readonly full?: boolean | undefined;
  readonly requirePin?: boolean | undefined;
  /** Called before each attempt: events of an earlier attempt do not count. */
  readonly onAttempt?: (() => void) | undefined;
  /**
   * Accepts the served history even if it contradicts the pin. Called with the
   * previous pin, the new record, and the first stored line that differs;
   * returns the record to write, or throws.
   */
  readonly accept?:
    | ((
      before: StoredPin | undefined,
      found: IssuerRecord,
      changed: number | undefined,
    ) => IssuerRecord)
    | undefined;
};

/**
 * Refreshes an issuer from the record of this process and the store, and writes
 * the result to the store.
 *
 * @throws {SigError} `store_unavailable`; with `accept` also the error of a
 * failed refresh.
 */
export async function refreshRemembered(
  store: PinStore,
  location: ProvenLocation,
  known: IssuerRecord,
  options: RememberOptions,
): Promise<Refresh> {
  const memory = new IssuerMemory(store, location, options);
  const { now, full, requirePin, accept, needsState } = options;
  return await whileOthersWrite(store, async () => {
    options.onAttempt?.();
    // With `full` only the pin is read: stored lines may be damaged.
    const before = full
      ? await memory.recallPin(known, now)
      : await memory.recall(known, now);
    const { known: stored } = before;
    if (stored === undefined && requirePin) {
      throw pinMissing(store, location.expectedIssuer);
    }
    const base = accept === undefined ? before : NOTHING_KNOWN;
    const lines = store.lines?.begin(stored?.lines?.table);
    try {
      const begun = lines === undefined ? base : memory.continued(base, lines);
      const refresh = await refreshIssuer(location, begun, {
        ...options,
        limits: begun === base ? options.limits : memory.limitsAfter(begun),
        fromStartLimits: options.limits,
        lines,
      });
      const { failure, record: found } = refresh;
      const isMoved = failure?.cause instanceof HistoryMoved;
      if (failure && (accept || isMoved)) throw failure.cause;
      const record = accept === undefined
        ? found
        : accept(stored, found, lines?.firstDifference());
      const asked = { needsState, lines, now };
      const after = await memory.commit(before, { ...refresh, record }, asked);
      return { ...refresh, record: after };
    } finally {
      lines?.end();
    }
  });
}

function pinMissing(store: PinStore, issuer: string): Error {
  return storeUnavailable(
    store.place,
    `it has no pin of ${issuer}`,
    undefined,
    "It may have been emptied. Without --require-pin the issuer is read as if for the first time.",
  );
}
