/** How far a watcher of a feed has come (docs/reference/command-line.md). @module */

import { SigError } from "@sig/core";
import {
  decodeChecked,
  encodeChecked,
  type IssuerPin,
  sha256Hex,
} from "../memory/pin.ts";
import { CURSORS, type PinStore } from "../memory/pin_store.ts";
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
export class WatchCursor {
  readonly #store: PinStore | undefined;
  readonly #id: string;
  readonly #name: string;
  readonly #now: () => Date;
  #version: string | null = null;
  #at: CursorPosition | undefined;

  private constructor(
    store: PinStore | undefined,
    id: string,
    name: string,
    now: () => Date,
  ) {
    this.#store = store;
    this.#id = id;
    this.#name = name;
    this.#now = now;
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
    const cursor = new WatchCursor(store, id, name, now);
    await cursor.#read();
    return cursor;
  }

  /** Where it is; undefined before it was ever moved. */
  get at(): CursorPosition | undefined {
    return this.#at;
  }

  /** Its name. */
  get name(): string {
    return this.#name;
  }

  /**
   * Moves it.
   *
   * @throws {SigError} `store_unavailable`, also when another process moves it.
   */
  async move(to: CursorPosition): Promise<void> {
    this.#at = to;
    const store = this.#store;
    if (store === undefined) return;
    const text = await encodeChecked({ kind: CURSORS, id: this.#id }, to);
    const now = this.#now();
    const isMoved = await store.put(
      CURSORS,
      this.#id,
      { text, expiresAtMs: null },
      this.#version,
      now,
    );
    const found = await store.get(CURSORS, this.#id, now);
    if (!isMoved || found?.text !== text) {
      throw storeUnavailable(
        store.place,
        `another process moves the cursor ${this.#name} too`,
        undefined,
        "Give each watcher a cursor of its own: --cursor NAME.",
      );
    }
    this.#version = found.version;
  }

  async #read(): Promise<void> {
    const found = await this.#store?.get(CURSORS, this.#id, this.#now());
    if (found === undefined) return;
    const name = { kind: CURSORS, id: this.#id };
    const position = await decodeChecked(name, found.text);
    if (position === undefined) {
      throw storeUnavailable(
        this.#store!.place,
        `the cursor ${this.#name} is damaged`,
        undefined,
        START_OVER,
      );
    }
    this.#version = found.version;
    this.#at = position as CursorPosition;
  }
}
