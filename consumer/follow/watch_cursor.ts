/** How far a watcher of a feed has come (docs/reference/command-line.md). @module */

import { SigError } from "@sig/core";
import {
  CURSORS,
  decodeChecked,
  encodeChecked,
  type IssuerPin,
  sha256Hex,
} from "../memory/pin.ts";
import type { PinStore } from "../memory/sqlite_lines.ts";
import { storeUnavailable } from "../store/record_store.ts";

/** The hint where events that were handed out are not in the history any more. */
export const START_OVER =
  "If that history is to be followed, begin with another --cursor.";

/** Which history a cursor belongs to. */
export interface CursorHistory {
  /** When the pin's issuer was first seen: another pin is another history. */
  readonly first_seen: string;
  /** How many other histories had been accepted by then. */
  readonly rewrites: number;
}

/** The last event that was handled. */
export interface CursorPosition {
  /** Its sequence; 0 before the first one. */
  readonly sequence: number;
  /** Its `event_id`, where it is known. */
  readonly event_id: string | null;
  /** What a feed is compared with that no store remembers. */
  readonly pin: IssuerPin | null;
  /** The history of a feed that a store remembers; absent in older cursors. */
  readonly history?: CursorHistory | undefined;
}

/** A cursor in a store, or in this process alone. */
export interface WatchCursor {
  /** Its name. */
  readonly name: string;
  /** Where it is; undefined before it was ever moved. */
  readonly at: CursorPosition | undefined;
  /**
   * Moves it.
   *
   * @throws {SigError} `store_unavailable`, also when another process moves it.
   */
  move(to: CursorPosition): Promise<void>;
}

/**
 * Opens the cursor of a name at a place: an issuer's DID, or a real path.
 *
 * @throws {SigError} `invalid_request`, `store_unavailable`.
 */
export async function openCursor(
  store: PinStore | undefined,
  name: string,
  place: string,
  now: () => Date,
): Promise<WatchCursor> {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) {
    throw new SigError(
      "invalid_request",
      "Cannot watch: a cursor's name is 1 to 64 letters, digits, dots, " +
        "hyphens and underscores",
      { context: { flag: "--cursor" } },
    );
  }
  const id = `${name}:${await sha256Hex(place)}`;
  const stored = await store?.get(CURSORS, id, now());
  let at = stored &&
    await decodeChecked({ kind: CURSORS, id }, stored.text) as
      | CursorPosition
      | undefined;
  if (stored !== undefined && at === undefined) {
    const why = `the cursor ${name} is damaged`;
    throw storeUnavailable(store!.place, why, undefined, START_OVER);
  }
  let version = stored?.version ?? null;
  return {
    name,
    get at() {
      return at;
    },
    async move(to) {
      at = to;
      if (store === undefined) return;
      const text = await encodeChecked({ kind: CURSORS, id }, to);
      const time = now();
      const record = { text, expiresAtMs: null };
      const isMoved = await store.put(CURSORS, id, record, version, time);
      const found = await store.get(CURSORS, id, time);
      if (!isMoved || found?.text !== text) {
        throw storeUnavailable(
          store.place,
          `another process moves the cursor ${name} too`,
          undefined,
          "Give each watcher a cursor of its own: --cursor NAME.",
        );
      }
      version = found.version;
    },
  };
}
