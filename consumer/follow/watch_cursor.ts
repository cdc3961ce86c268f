/** The position of a watcher in a feed (docs/reference/command-line.md). @module */

import { SigError } from "@sig/core";
import { type KnownPin, sha256Hex } from "../memory/pin.ts";
import {
  CURSORS,
  decodeRecord,
  encodeRecord,
  upgradedPin,
} from "../memory/pin_record.ts";
import { type RecordStore, storeUnavailable } from "../store/record_store.ts";

/** The hint if the history no longer has events that were already yielded. */
export const START_OVER =
  "To follow that history, start with another --cursor.";

/** The history that a cursor belongs to. */
export interface CursorHistory {
  /** `first_seen` of the pin; a different pin is a different history. */
  readonly first_seen: string;
  /** The number of histories accepted so far. */
  readonly rewrites: number;
}

/** The last event that was handled. */
export interface CursorPosition {
  /** The event's sequence; 0 before the first event. */
  readonly sequence: number;
  /** The event's `event_id`; null if unknown. */
  readonly event_id: string | null;
  /** The pin of a feed whose issuer is not in the store; otherwise null. */
  readonly pin: KnownPin | null;
  /** The history of a feed whose issuer is in the store. */
  readonly history?: CursorHistory | undefined;
}

/** A cursor in a store, or only in this process. */
interface WatchCursor {
  readonly name: string;
  readonly at: CursorPosition | undefined;
  /**
   * Moves the cursor.
   *
   * @throws {SigError} `store_unavailable`, also if another process moves it.
   */
  move(to: CursorPosition): Promise<void>;
}

/**
 * Opens a cursor by its name and its feed: an issuer's DID, or a real path.
 *
 * @throws {SigError} `invalid_request`, `store_unavailable`.
 */
export async function openCursor(
  store: RecordStore | undefined,
  name: string,
  place: string,
  now: () => Date,
): Promise<WatchCursor> {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) {
    throw new SigError("invalid_request", {
      action: "watch",
      reason:
        "a cursor's name is 1 to 64 letters, digits, dots, hyphens and underscores",
      context: { flag: "--cursor" },
    });
  }
  const id = `${name}:${await sha256Hex(place)}`;
  const stored = await store?.get(CURSORS, id, now());
  let at = stored &&
    await decodeRecord({ kind: CURSORS, id }, stored.text) as
      | CursorPosition
      | undefined;
  if (store !== undefined && stored !== undefined && at === undefined) {
    const why = `the cursor ${name} is damaged`;
    throw storeUnavailable(store.place, why, undefined, START_OVER);
  }
  if (at?.pin) at = { ...at, pin: upgradedPin(at.pin) };
  let version = stored?.version ?? null;
  return {
    name,
    get at() {
      return at;
    },
    async move(to) {
      at = to;
      if (store === undefined) return;
      const text = await encodeRecord({ kind: CURSORS, id }, to);
      const time = now();
      const record = { text, expiresAtMs: null };
      const isMoved = await store.put(CURSORS, id, record, version, time);
      const found = await store.get(CURSORS, id, time);
      if (!isMoved || found?.text !== text) {
        throw storeUnavailable(
          store.place,
          `another process also moves the cursor ${name}`,
          undefined,
          "Use a separate cursor for each watcher: --cursor NAME.",
        );
      }
      version = found.version;
    },
  };
}
