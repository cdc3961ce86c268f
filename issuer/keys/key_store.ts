// deno-lint-ignore-file require-await -- the contract's methods answer with promises
/**
 * Private keys: the interface of their store, their names, and a store in
 * memory.
 *
 * @module
 */

import { type PrivateJwk, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { importSigningKey, type SigningKey } from "@sig/jose/keys";

/** The name of a key: the issuer's `host` or `host:port`, and the `kid`. */
export interface KeyName {
  /** Host of the issuer's did:web, with its port if it has one. */
  readonly host: string;
  /** Key identifier: `[A-Za-z0-9._-]{1,64}`, not starting with a dot. */
  readonly kid: string;
}

/**
 * A key whose private part is kept elsewhere, such as in an agent, where a
 * signature may wait for a person.
 */
export interface ReferencedKey extends SigningKey {
  /** Identifies the key, such as `SHA256:…` for ssh-agent. Not a secret. */
  readonly reference: string;
}

/** Returns whether the private part is kept elsewhere. */
export function isReferenced(key: SigningKey): key is ReferencedKey {
  return "reference" in key;
}

/** What a key store saves: a private key, or the reference to one. */
export type StoredKey = PrivateJwk | Pick<ReferencedKey, "reference">;

/** What a key store returns: a private key, or one that is kept elsewhere. */
export type KeptKey = PrivateJwk | ReferencedKey;

/**
 * Returns the stored key as a key that signs under this kid. The name in the
 * store determines the kid, not the key's content.
 *
 * @throws {SigError} `invalid_key`
 */
export async function toSigningKey(
  key: KeptKey,
  kid: string,
): Promise<SigningKey> {
  return "sign" in key ? key : await importSigningKey({ ...key, kid });
}

/**
 * A store of private keys. A key is never changed and never removed. Every
 * method rejects with a `SigError`: `store_unavailable` if reading fails,
 * `write_failed` if writing fails, `invalid_key` for a damaged key,
 * `signing_key_not_found` for a reference to a missing key. No error contains
 * any part of the key.
 */
export interface KeyStore {
  /** Returns the key, or undefined if there is no key of that name. */
  read(name: KeyName): Promise<KeptKey | undefined>;
  /** Returns whether there is a key of that name. */
  has(name: KeyName): Promise<boolean>;
  /** Returns the reference of a key kept elsewhere (default: no key is). */
  reference?(name: KeyName): Promise<string | undefined>;
  /**
   * Saves a new key durably. Rejects with `kid_exists` and keeps the old key.
   */
  write(name: KeyName, key: StoredKey): Promise<void>;
}

/** Kids become file names and URL fragments (docs/protocol.md §1). */
const KID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,4})?$/;

/** Returns whether a new key may have this kid. */
export function isOwnKid(kid: string): boolean {
  return KID.test(kid);
}

/** Refuses a kid that a new key may not have (`invalid_identifier`). */
export function requireKid(kid: string): void {
  if (isOwnKid(kid)) return;
  throw new SigError("invalid_identifier", {
    action: `use kid ${quote(kid)}`,
    reason: "it must be 1 to 64 of A-Z a-z 0-9 . _ - and not start with a dot",
    context: { pointer: "/kid" },
  });
}

/** Creates the error of a kid that another key has. */
export function kidExists(kid: string, why: string): SigError {
  return new SigError("kid_exists", {
    action: `add key ${quote(kid)}`,
    reason: why,
    context: { kid, hint: "Choose another kid." },
  });
}

/** Refuses a host that could leave the key store (`invalid_identifier`). */
export function requireHost(host: string): void {
  if (HOST.test(host) && !host.includes("..")) return;
  throw new SigError("invalid_identifier", {
    action: `use host ${quote(host)}`,
    reason: "it must be a host name, with or without a port",
    context: { pointer: "/host" },
  });
}

/** The default kid of an issuer's first key. */
export const DEFAULT_KID = "orgsign-1";

/**
 * Makes an empty key store in memory, for tests.
 *
 * @example
 * ```ts
 * import { createMemoryKeyStore } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * const keys = createMemoryKeyStore();
 * const name = { host: "acme.example", kid: "orgsign-1" };
 * assertEquals(await keys.read(name), undefined);
 * ```
 */
export function createMemoryKeyStore(): KeyStore {
  return new MemoryKeyStore();
}

class MemoryKeyStore implements KeyStore {
  readonly #keys = new Map<string, KeptKey>();

  async read(name: KeyName): Promise<KeptKey | undefined> {
    return this.#keys.get(slot(name));
  }

  async has(name: KeyName): Promise<boolean> {
    return this.#keys.has(slot(name));
  }

  async write(name: KeyName, key: KeptKey): Promise<void> {
    if (this.#keys.has(slot(name))) {
      throw new SigError("kid_exists", {
        action: "keep key",
        reason: `there is one for ${name.kid} already`,
        context: { kid: name.kid },
      });
    }
    this.#keys.set(slot(name), "sign" in key ? key : { ...key });
  }
}

function slot({ host, kid }: KeyName): string {
  requireHost(host);
  requireKid(kid);
  return `${host}/${kid}`;
}
