// @ts-check
/// <reference lib="dom" />
/**
 * The person's key: made in this browser, kept in IndexedDB, and never to be
 * read by anyone, this page included.
 *
 * @module
 */

import { hasEd25519 } from "./ed25519_support.js";
import { jwkToDidKey } from "./verify.js";

const DATABASE = "sig-sign-in";
const STORE = "keys";
const NAME = "login";

/**
 * @typedef {object} StoredKey
 * @property {string} did The key's did:key.
 * @property {{ kty: "OKP", crv: "Ed25519", x: string }} publicJwk
 * @property {CryptoKey} privateKey Not extractable.
 * @property {string} createdAt
 */

/**
 * What this browser lacks for holding a key; undefined when nothing.
 *
 * @returns {Promise<"insecure" | "ed25519" | "storage" | undefined>}
 */
export async function findMissing() {
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

/** @returns {Promise<StoredKey | undefined>} */
export async function loadKey() {
  return await transact("readonly", (store) => store.get(NAME));
}

/**
 * Makes a key and keeps it in place of any other.
 *
 * @returns {Promise<StoredKey>}
 */
export async function createKey() {
  const pair = /** @type {CryptoKeyPair} */ (
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])
  );
  const { x } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  /** @type {StoredKey["publicJwk"]} */
  const publicJwk = { kty: "OKP", crv: "Ed25519", x: x ?? "" };
  const key = {
    did: jwkToDidKey(publicJwk),
    publicJwk,
    privateKey: pair.privateKey,
    createdAt: new Date().toISOString(),
  };
  await transact("readwrite", (store) => store.put(key, NAME));
  return key;
}

/** Deletes the key for good. */
export async function forgetKey() {
  await transact("readwrite", (store) => store.delete(NAME));
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} work
 * @returns {Promise<T>}
 */
async function transact(mode, work) {
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
