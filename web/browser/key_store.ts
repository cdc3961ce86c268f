/**
 * The person's keys: made in this browser, kept in IndexedDB, and never to be
 * read by anyone, the page included. Nothing of them leaves but signatures.
 *
 * @module
 */

import { jwkToDidKey } from "@sig/jose";

const DATABASE = "sig-sign-in";
const STORE = "keys";
const VERSION = 2;

/** A key of this browser, for the pages of one origin. */
export interface BrowserKey {
  /** The key's did:key, and its place in the store. */
  readonly did: string;
  /** The public part. */
  readonly publicJwk: {
    readonly kty: "OKP";
    readonly crv: "Ed25519";
    readonly x: string;
  };
  /** Not extractable. */
  readonly privateKey: CryptoKey;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  /** What the person calls it. */
  readonly name?: string;
  /** The browser that made it, in words. */
  readonly place?: string;
  /** It was derived from a passkey, and can be derived again on another device. */
  readonly isPasskey?: true;
}

/**
 * What a browser may lack for holding keys: `insecure`, a page that is neither on
 * https nor on this machine; `ed25519`, the algorithm; `storage`, a place, as in
 * some private windows.
 */
export type Missing = "insecure" | "ed25519" | "storage";

/**
 * Whether WebCrypto makes keys for Ed25519 here. Without it a good key looks
 * like a malformed one, so nothing may be judged.
 */
export async function hasEd25519(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    return true;
  } catch {
    return false;
  }
}

/** What this browser lacks for holding a key; undefined when nothing. */
export async function findMissing(): Promise<Missing | undefined> {
  return (await findKeys()).missing;
}

/** What this browser lacks for holding a key, and the keys that it holds. */
export interface FoundKeys {
  /** Undefined when nothing is. */
  readonly missing: Missing | undefined;
  /** The newest first; empty where something is missing. */
  readonly keys: readonly BrowserKey[];
}

/** Looks for all of it at once; storage is missing in some private windows. */
export async function findKeys(): Promise<FoundKeys> {
  const missing = (what: Missing) => ({ missing: what, keys: [] });
  if (!browserGlobals().isSecureContext) return missing("insecure");
  const [canSign, keys] = await Promise.all([
    hasEd25519(),
    loadKeys().catch(() => undefined),
  ]);
  if (!canSign) return missing("ed25519");
  return keys === undefined ? missing("storage") : { missing: undefined, keys };
}

/** All keys, the newest first; by default that one signs. */
export async function loadKeys(): Promise<readonly BrowserKey[]> {
  const keys = await transact(
    "readonly",
    (store) => store.getAll(),
  ) as BrowserKey[];
  return keys.toSorted((a, b) => a.createdAt < b.createdAt ? 1 : -1);
}

/**
 * The key of a did:key, or the newest one.
 *
 * @returns undefined when there is none.
 */
export async function loadKey(did?: string): Promise<BrowserKey | undefined> {
  const keys = await loadKeys();
  return did === undefined ? keys[0] : keys.find((key) => key.did === did);
}

/**
 * Makes a key and keeps it. No script can read its private part: what steals a
 * page steals signatures for as long as it is open, and never the key.
 *
 * @param place Where it is made, in words for the person.
 */
export async function createKey(place?: string): Promise<BrowserKey> {
  const pair = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const { x = "" } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const publicJwk = { kty: "OKP", crv: "Ed25519", x } as const;
  const key: BrowserKey = {
    did: jwkToDidKey(publicJwk),
    publicJwk,
    privateKey: pair.privateKey,
    createdAt: new Date().toISOString(),
    ...(place === undefined ? {} : { place }),
  };
  await keepKey(key);
  return key;
}

/** Keeps a key, or a changed one in its place. */
export async function keepKey(key: BrowserKey): Promise<void> {
  await transact("readwrite", (store) => store.put(key, key.did));
}

/** Deletes a key for good: who has no other can't log in any more. */
export async function forgetKey(did: string): Promise<void> {
  await transact("readwrite", (store) => store.delete(did));
}

function open(): Promise<Database> {
  return new Promise((resolve, reject) => {
    const request = browserGlobals().indexedDB.open(DATABASE, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function transact<T>(
  mode: "readonly" | "readwrite",
  work: (store: ObjectStore) => Asked<T>,
): Promise<T> {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

// IndexedDB as types: a published module can't name those of browsers
// (`lib="dom"`) without changing its users' own.

/** What is being asked. */
interface Asked<T> {
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
interface ObjectStore {
  getAll(): Asked<unknown[]>;
  put(value: unknown, name: string): Asked<unknown>;
  delete(name: string): Asked<unknown>;
}

/** Work that is done as one. */
interface Transaction {
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  objectStore(name: string): ObjectStore;
}

/** A database of an origin. */
interface Database {
  createObjectStore(name: string): ObjectStore;
  transaction(store: string, mode: "readonly" | "readwrite"): Transaction;
  close(): void;
}

/** A database on its way. */
interface Opening extends Asked<Database> {
  onupgradeneeded: (() => void) | null;
}

/** The browser's own. */
interface BrowserGlobals {
  readonly indexedDB: { open(name: string, version: number): Opening };
  readonly isSecureContext?: boolean;
}

/** The browser's globals; outside of one there are none of these. */
function browserGlobals(): BrowserGlobals {
  return globalThis as unknown as BrowserGlobals;
}
