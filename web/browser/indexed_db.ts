/**
 * What a key store asks of IndexedDB, as types: a published module can't name
 * those of browsers (`lib="dom"`) without changing its users' own.
 *
 * @module
 */

/** What is being asked. */
export interface Asked<T> {
  /** The answer, once it is there. */
  readonly result: T;
  /** Why there is none. */
  readonly error: unknown;
  /** Called with the answer. */
  onsuccess: (() => void) | null;
  /** Called without one. */
  onerror: (() => void) | null;
}

/** Values by their names. */
export interface ObjectStore {
  get(name: string): Asked<unknown>;
  getAll(): Asked<unknown[]>;
  put(value: unknown, name: string): Asked<unknown>;
  delete(name: string): Asked<unknown>;
}

/** Work that is done as one. */
export interface Transaction {
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  objectStore(name: string): ObjectStore;
}

/** A database of an origin. */
export interface Database {
  createObjectStore(name: string): ObjectStore;
  transaction(store: string, mode: "readonly" | "readwrite"): Transaction;
  close(): void;
}

/** A database on its way. */
export interface Opening extends Asked<Database> {
  readonly transaction: Transaction | null;
  onupgradeneeded: ((event: { readonly oldVersion: number }) => void) | null;
}

/** The browser's own. */
interface BrowserGlobals {
  readonly indexedDB: { open(name: string, version: number): Opening };
  readonly isSecureContext?: boolean;
}

/** The browser's globals; outside of one there are none of these. */
export function browserGlobals(): BrowserGlobals {
  return globalThis as unknown as BrowserGlobals;
}
