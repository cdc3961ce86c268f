/** Refreshing an issuer that a store remembers (docs/protocol.md §6). @module */

import type { IssuerRecord } from "../memory/issuer_record.ts";
import { IssuerMemory, type MemoryOptions } from "../memory/memory.ts";
import { HistoryMoved } from "../memory/pin.ts";
import type { PinStore } from "../memory/pin_store.ts";
import type { ProvenLocation } from "../read/source.ts";
import { storeUnavailable } from "../store/record_store.ts";
import type { RefreshOptions } from "./read_feed.ts";
import { type Refresh, refreshIssuer } from "./refresh.ts";

/** How often another process may be faster before we give up. */
const MAX_ATTEMPTS = 8;

/** Options of {@linkcode refreshRemembered}. */
export type RememberOptions = MemoryOptions & RefreshOptions & {
  /** Verify everything again. */
  readonly full?: boolean | undefined;
  /** The store must have the issuer's pin already. */
  readonly requirePin?: boolean | undefined;
};

/**
 * Refreshes an issuer, given what this process and the store know of it, and
 * writes what came of it into the store.
 *
 * @throws {SigError} `store_unavailable`
 */
export async function refreshRemembered(
  store: PinStore,
  location: ProvenLocation,
  known: IssuerRecord,
  options: RememberOptions,
): Promise<Refresh> {
  const memory = new IssuerMemory(store, location, options);
  const { now, full, requirePin } = options;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const recalled = await recall(memory, known, options).catch(unlessMoved);
    if (recalled === undefined) continue;
    if (recalled.shared === undefined && requirePin) {
      throw pinMissing(store, location.expectedIssuer);
    }
    const before = full ? { ...recalled, held: undefined } : recalled;
    const lines = store.lines?.begin();
    try {
      const begun = lines === undefined
        ? before
        : memory.continued(before, lines);
      const refresh = await refreshIssuer(location, begun, {
        ...options,
        limits: begun === before ? options.limits : memory.limitsAfter(begun),
        anewLimits: options.limits,
        lines,
        table: before.shared?.stored.lines?.table,
      });
      const { outcome, isFromStart } = refresh;
      const failure = outcome.observation === undefined ? outcome : undefined;
      if (failure?.error instanceof HistoryMoved) continue;
      const { record } = refresh;
      const result = { record, failure, isFromStart, lines, now };
      const after = await memory.commit(before, result);
      if (after === undefined) continue;
      return {
        ...refresh,
        record: after,
        outcome: failure ?? { observation: after.held!.observation },
      };
    } catch (error) {
      unlessMoved(error);
    } finally {
      lines?.end();
    }
    // Another process was faster: what it has seen counts as well.
  }
  throw storeUnavailable(store.place, "other processes keep changing it");
}

/** Another process was faster; everything else is thrown. */
function unlessMoved(error: unknown): undefined {
  if (!(error instanceof HistoryMoved)) throw error;
}

/** With `full` nothing but the pin is read: stored lines may be damaged. */
async function recall(
  memory: IssuerMemory,
  known: IssuerRecord,
  { now, full }: RememberOptions,
): Promise<IssuerRecord> {
  return full
    ? await memory.recallPin(known, now)
    : await memory.recall(known, now);
}

function pinMissing(store: PinStore, issuer: string): Error {
  return storeUnavailable(
    store.place,
    `it has no pin of ${issuer}`,
    undefined,
    "It may have been emptied. Without --require-pin the issuer is read as if for the first time.",
  );
}
