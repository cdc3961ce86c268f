/**
 * The person's keys: generated in this browser and stored in IndexedDB. No
 * script can read a private key, not even one of this page; only signatures
 * leave the browser.
 *
 * @module
 */

import { jwkToDidKey } from "@sig/jose";

const DATABASE = "sig-sign-in";
const STORE = "keys";
const VERSION = 2;

/** A key of this browser, for the pages of one origin. */
export interface BrowserKey {
  /** The key's did:key, which is also its key in the store. */
  readonly did: string;
  /** The public key. */
  readonly publicJwk: {
    readonly kty: "OKP";
    readonly crv: "Ed25519";
    readonly x: string;
  };
  /** The private key; not extractable. */
  readonly privateKey: CryptoKey;
  /** When the key was created (RFC 3339 UTC). */
  readonly createdAt: string;
  /** When the person chose it for signing (RFC 3339 UTC). */
  readonly chosenAt?: string;
  /** The name that the person gave it. */
  readonly name?: string;
  /** A description of the browser that created it. */
  readonly place?: string;
  /**
   * Whether it was derived from a passkey, and can be derived again on another
   * device.
   */
  readonly isPasskey?: true;
}

/**
 * Why a browser can't hold keys: `insecure`, the page is neither on https nor
 * on this machine; `ed25519`, the algorithm is missing; `storage`, there is no
 * storage, as in some private windows.
 */
export type Missing = "insecure" | "ed25519" | "storage";

/**
 * Returns whether WebCrypto supports Ed25519 here. Without it a valid key looks
 * malformed, so nothing can be verified.
 */
export async function hasEd25519(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    return true;
  } catch {
    return false;
  }
}

/** Returns why this browser can't hold a key; undefined if it can. */
export async function findMissing(): Promise<Missing | undefined> {
  return (await findKeys()).missing;
}

/** The keys of this browser, or why it can't hold any. */
export interface FoundKeys {
  /** Undefined if nothing is missing. */
  readonly missing: Missing | undefined;
  /** The keys, newest first; empty if something is missing. */
  readonly keys: readonly BrowserKey[];
}

/**
 * Checks all requirements and loads the keys concurrently. Storage is missing
 * in some private windows.
 */
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

/** Returns all keys, newest first. */
export async function loadKeys(): Promise<readonly BrowserKey[]> {
  const found = await transact("readonly", (store) => store.getAll());
  const keys = found as BrowserKey[];
  return keys.toSorted((a, b) => a.createdAt < b.createdAt ? 1 : -1);
}

/** Returns the key that signs: the one that was chosen or created last. */
export function signingKeyAmong(
  keys: readonly BrowserKey[],
): BrowserKey | undefined {
  const since = ({ chosenAt, createdAt }: BrowserKey) => chosenAt ?? createdAt;
  return keys.toSorted((a, b) => since(a) < since(b) ? 1 : -1)[0];
}

/**
 * Returns the key with a did:key, or the key that was chosen or created last.
 *
 * @returns undefined if there is none.
 */
export async function loadKey(did?: string): Promise<BrowserKey | undefined> {
  const keys = await loadKeys();
  return did === undefined
    ? signingKeyAmong(keys)
    : keys.find((key) => key.did === did);
}

/**
 * Creates and stores a key. No script can read its private part: a malicious
 * script can sign while the page is open, but can't steal the key.
 *
 * @param place A description of this browser for the person.
 */
export async function createKey(place?: string): Promise<BrowserKey> {
  const pair = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const { x = "" } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const made = toBrowserKey(pair.privateKey, x);
  const key = place === undefined ? made : { ...made, place };
  await keepKey(key);
  return key;
}

/** Returns a key that is created now, with its DID; `x` as in its public JWK. */
export function toBrowserKey(privateKey: CryptoKey, x: string): BrowserKey {
  const publicJwk = { kty: "OKP", crv: "Ed25519", x } as const;
  const createdAt = new Date().toISOString();
  return { did: jwkToDidKey(publicJwk), publicJwk, privateKey, createdAt };
}

/** Stores a key, or replaces the one with the same DID. */
export async function keepKey(key: BrowserKey): Promise<void> {
  await transact("readwrite", (store) => store.put(key, key.did));
}

/**
 * Deletes a key permanently. A person without another key can't log in any
 * more.
 */
export async function forgetKey(did: string): Promise<void> {
  await transact("readwrite", (store) => store.delete(did));
}

function open(): Promise<Database> {
  return new Promise((resolve, reject) => {
    const request = browserGlobals().indexedDB.open(DATABASE, VERSION);
    request.onupgradeneeded = () =>
      void request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function transact(
  mode: "readonly" | "readwrite",
  work: (store: ObjectStore) => { readonly result: unknown },
): Promise<unknown> {
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

// The types of IndexedDB and WebAuthn, as far as they are used: a published
// module can't use the browser's types (`lib="dom"`) without changing those of
// its users.

type ObjectStore = Record<
  "getAll" | "put" | "delete",
  (...args: readonly unknown[]) => { readonly result: unknown }
>;

interface Transaction {
  readonly error: unknown;
  oncomplete: () => void;
  onabort: () => void;
  objectStore(name: string): ObjectStore;
}

interface Database {
  createObjectStore(name: string): ObjectStore;
  transaction(store: string, mode: "readonly" | "readwrite"): Transaction;
  close(): void;
}

/** A request to open a database. */
interface Opening {
  readonly result: Database;
  readonly error: unknown;
  onupgradeneeded: () => void;
  onsuccess: () => void;
  onerror: () => void;
}

/** A WebAuthn credential. */
export interface Credential {
  readonly rawId: ArrayBuffer;
  getClientExtensionResults(): {
    readonly prf?: {
      readonly enabled?: boolean;
      readonly results?: { readonly first: BufferSource };
    };
  };
}

type AskCredentials = (options: object) => Promise<Credential | null>;

interface BrowserGlobals {
  readonly indexedDB: { open(name: string, version: number): Opening };
  readonly isSecureContext?: boolean;
  readonly location: { readonly hostname: string };
  readonly navigator: {
    readonly credentials: Record<"create" | "get", AskCredentials>;
  };
  readonly PublicKeyCredential?: {
    getClientCapabilities?(): Promise<{ readonly [name: string]: boolean }>;
  };
}

/** Returns the browser's globals, which don't exist outside of a browser. */
export function browserGlobals(): BrowserGlobals {
  return globalThis as unknown as BrowserGlobals;
}
