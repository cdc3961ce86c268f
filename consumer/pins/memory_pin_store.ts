/** A memory that dies with the process. @module */

import {
  type PinEntry,
  type PinRow,
  type PinStore,
  StateMoved,
  stateName,
  type StateRef,
} from "./pin_store.ts";

/**
 * Makes an empty store in memory.
 *
 * @example
 * ```ts
 * import { createMemoryPinStore } from "@sig/consumer/pins";
 * import { assertEquals } from "@std/assert";
 *
 * const store = createMemoryPinStore();
 * assertEquals(await store.list(), []);
 * await store.close();
 * ```
 */
export function createMemoryPinStore(): PinStore {
  return new MemoryPinStore();
}

class MemoryPinStore implements PinStore {
  readonly place = "of this process";
  readonly #entries = new Map<string, PinEntry>();
  /** By issuer, then by state. */
  readonly #states = new Map<string, Map<string, Map<string, string>>>();
  /** States of which rows were staged: they must be there. */
  readonly #staged = new Set<string>();

  get(issuer: string): Promise<PinEntry | undefined> {
    return Promise.resolve(this.#entries.get(issuer));
  }

  list(): Promise<readonly PinEntry[]> {
    const entries = [...this.#entries.values()];
    return Promise.resolve(
      entries.sort((a, b) => a.issuer < b.issuer ? -1 : 1),
    );
  }

  rows(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    return Promise.resolve().then(() => {
      const rows = this.#current(ref);
      return keys.map((key) => rows.get(key));
    });
  }

  async *all(ref: StateRef, prefix: string): AsyncGenerator<PinRow> {
    await Promise.resolve();
    for (const row of this.#current(ref)) {
      if (!row[0].startsWith(prefix)) continue;
      this.#current(ref);
      yield row;
    }
  }

  stage(ref: StateRef, rows: readonly PinRow[]): Promise<void> {
    if (this.#isLost(ref)) return Promise.reject(new StateMoved());
    this.#staged.add(stateName(ref));
    const kept = this.#rowsOf(ref);
    for (const [key, value] of rows) kept.set(key, value);
    return Promise.resolve();
  }

  staged(
    { issuer, state }: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    const rows = this.#states.get(issuer)?.get(state);
    return Promise.resolve(keys.map((key) => rows?.get(key)));
  }

  unstage(ref: StateRef): Promise<void> {
    const { issuer, state } = ref;
    if (this.#entries.get(issuer)?.state !== state) {
      this.#states.get(issuer)?.delete(state);
      this.#staged.delete(stateName(ref));
    }
    return Promise.resolve();
  }

  put(
    entry: PinEntry,
    rows: readonly PinRow[] = [],
    over?: string,
  ): Promise<boolean> {
    const isLost = this.#isLost(entry);
    const before = this.#entries.get(entry.issuer);
    const isNext = entry.revision === (before?.revision ?? 0) + 1;
    if (isLost || !isNext || (over ?? before?.state) !== before?.state) {
      return Promise.resolve(false);
    }
    this.#staged.delete(stateName(entry));
    const kept = this.#rowsOf(entry);
    for (const [key, value] of rows) kept.set(key, value);
    if (before?.state !== entry.state) {
      this.#states.set(entry.issuer, new Map([[entry.state, kept]]));
    }
    this.#entries.set(entry.issuer, entry);
    return Promise.resolve(true);
  }

  remove(issuer: string): Promise<boolean> {
    this.#states.delete(issuer);
    return Promise.resolve(this.#entries.delete(issuer));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Whether rows were staged that are forgotten by now. */
  #isLost(ref: StateRef): boolean {
    const isThere = this.#states.get(ref.issuer)?.has(ref.state) ?? false;
    return !isThere && this.#staged.has(stateName(ref));
  }

  #current(ref: StateRef): ReadonlyMap<string, string> {
    if (this.#entries.get(ref.issuer)?.state !== ref.state) {
      throw new StateMoved();
    }
    return this.#rowsOf(ref);
  }

  #rowsOf({ issuer, state }: StateRef): Map<string, string> {
    const states = this.#states.get(issuer) ?? new Map();
    this.#states.set(issuer, states);
    const rows = states.get(state) ?? new Map();
    states.set(state, rows);
    return rows;
  }
}
