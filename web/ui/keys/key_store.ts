/**
 * The person's keys: made in this browser, kept in IndexedDB, and never to be
 * read by anyone, this page included. Nothing of them leaves but signatures.
 *
 * @module
 */

import { hasEd25519 } from "../feed/ed25519_support.ts";
import { jwkToDidKey } from "../libraries/mod.ts";

const DATABASE = "sig-sign-in";
const STORE = "keys";
const VERSION = 2;
/** The only key's place in version 1. */
const OLD_NAME = "login";

/** A key of this browser. */
export interface StoredKey {
  /** The key's did:key, and its place in the store. */
  readonly did: string;
  readonly publicJwk: {
    readonly kty: "OKP";
    readonly crv: "Ed25519";
    readonly x: string;
  };
  /** Not extractable. */
  readonly privateKey: CryptoKey;
  readonly createdAt: string;
  /** What the person calls it. */
  readonly name?: string;
  /** The browser that made it. */
  readonly place?: string;
}

/** What a browser may lack for holding keys. */
export type Missing = "insecure" | "ed25519" | "storage";

/** What this browser lacks for holding a key; undefined when nothing. */
export async function findMissing(): Promise<Missing | undefined> {
  if (!globalThis.isSecureContext) return "insecure";
  if (!await hasEd25519()) return "ed25519";
  try {
    (await open()).close();
  } catch {
    // Some private windows have none.
    return "storage";
  }
  return undefined;
}

/** All keys, the newest first: it is the one that signs unless told. */
export async function loadKeys(): Promise<readonly StoredKey[]> {
  const keys = await transact<StoredKey[]>(
    "readonly",
    (store) => store.getAll(),
  );
  return keys.toSorted((a, b) => a.createdAt < b.createdAt ? 1 : -1);
}

/** Makes a key and keeps it. */
export async function createKey(place: string): Promise<StoredKey> {
  const pair = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const { x = "" } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const publicJwk = { kty: "OKP", crv: "Ed25519", x } as const;
  const key: StoredKey = {
    did: jwkToDidKey(publicJwk),
    publicJwk,
    privateKey: pair.privateKey,
    createdAt: new Date().toISOString(),
    place,
  };
  await keepKey(key);
  return key;
}

/** Keeps a key, or a changed one in its place. */
export async function keepKey(key: StoredKey): Promise<void> {
  await transact("readwrite", (store) => store.put(key, key.did));
}

/** Deletes a key for good. */
export async function forgetKey(did: string): Promise<void> {
  await transact("readwrite", (store) => store.delete(did));
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION);
    request.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion === 0) request.result.createObjectStore(STORE);
      else if (request.transaction) moveOldKey(request.transaction);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Version 1 had one key, under a name. */
function moveOldKey(transaction: IDBTransaction): void {
  const store = transaction.objectStore(STORE);
  const request: IDBRequest<StoredKey | undefined> = store.get(OLD_NAME);
  request.onsuccess = () => {
    const key = request.result;
    if (key === undefined) return;
    store.put(key, key.did);
    store.delete(OLD_NAME);
  };
}

async function transact<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
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
