/** How far somebody who watches a feed has come (INTERFACES §2c). @module */

import { SigError } from "@sig/core";
import { encodeHex } from "@std/encoding/hex";
import type { IssuerPin } from "../pins/issuer_pin.ts";
import {
  CURSOR_PREFIX,
  damaged,
  type PinStore,
  pinStoreUnavailable,
} from "../pins/pin_store.ts";

/** Said where what was seen is no part of the history any more. */
export const BEGIN_ANEW =
  "If that history is to be followed, begin anew with another --cursor.";

/** The events that were dealt with, as a digest. */
export interface SeenEvents {
  /** The stored state that they were read of. */
  readonly state: string;
  /** State of the SHA-256 over 4 bytes of each signature. */
  readonly digest: string;
}

/** The last event that was dealt with. */
export interface CursorPosition {
  /** Its sequence; 0 before the first one. */
  readonly sequence: number;
  /** Its `event_id`, where it was seen. */
  readonly event_id: string | null;
  /**
   * What a feed that is not remembered otherwise is compared with; reduced.
   */
  readonly pin: IssuerPin | null;
  /**
   * The history of a feed that is remembered: another one may be accepted while
   * nobody watches, with the same event at this place. Absent in cursors from
   * before that was kept.
   */
  readonly history?: SeenEvents | undefined;
}

/** A cursor in a store, or in this process alone. */
export class WatchCursor {
  readonly #store: PinStore | undefined;
  readonly #key: string;
  readonly #name: string;
  #revision = 0;
  #at: CursorPosition | undefined;

  private constructor(
    store: PinStore | undefined,
    key: string,
    name: string,
  ) {
    this.#store = store;
    this.#key = key;
    this.#name = name;
  }

  /**
   * The cursor of a name at a place: an issuer's DID, or a real path.
   *
   * @throws {SigError} `invalid_request`, `store_unavailable`.
   */
  static async open(
    store: PinStore | undefined,
    name: string,
    place: string,
  ): Promise<WatchCursor> {
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) {
      throw new SigError(
        "invalid_request",
        "Cannot watch: a cursor's name is 1 to 64 letters, digits, dots, " +
          "hyphens and underscores",
        { context: { flag: "--cursor" } },
      );
    }
    const bytes = new TextEncoder().encode(place);
    const digest = encodeHex(await crypto.subtle.digest("SHA-256", bytes));
    const key = `${CURSOR_PREFIX}${name}:${digest}`;
    const cursor = new WatchCursor(store, key, name);
    const entry = await store?.get(key);
    if (entry !== undefined) {
      cursor.#revision = entry.revision;
      cursor.#at = read(store!, entry.body, name);
    }
    return cursor;
  }

  /** Where it is; undefined before it was ever moved. */
  get at(): CursorPosition | undefined {
    return this.#at;
  }

  /**
   * Moves it.
   *
   * @throws {SigError} `store_unavailable`, also when somebody else moves it.
   */
  async move(to: CursorPosition): Promise<void> {
    const isMoved = await this.#store?.put({
      issuer: this.#key,
      revision: this.#revision + 1,
      state: "cursor",
      body: JSON.stringify(to),
    });
    if (isMoved === false) {
      throw pinStoreUnavailable(
        this.#store!.place,
        `another process moves the cursor ${this.#name} too`,
        { hint: "Give each that watches a cursor of its own: --cursor NAME." },
      );
    }
    this.#revision++;
    this.#at = to;
  }
}

function read(store: PinStore, body: string, name: string): CursorPosition {
  try {
    const { sequence, event_id, pin, history } = JSON.parse(body);
    const isId = event_id === null || typeof event_id === "string";
    const isPin = pin === null || typeof pin.prefix_sha256 === "string";
    const isHistory = history === undefined ||
      [history?.state, history?.digest].every((x) => typeof x === "string");
    const isSequence = Number.isSafeInteger(sequence) && sequence >= 0;
    if (isSequence && isId && isPin && isHistory) {
      return { sequence, event_id, pin, history };
    }
  } catch {
    // Told below.
  }
  throw damaged(store.place, `the cursor ${name}`);
}
