// deno-lint-ignore-file require-await -- the contract's methods answer with promises
/** Private keys that die with the process. @module */

import { SigError } from "@sig/core";
import {
  type KeptKey,
  type KeyName,
  type KeyStore,
  requireHost,
  requireKid,
} from "./key_store.ts";

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
      throw new SigError(
        "kid_exists",
        `Cannot keep key: there is one for ${name.kid} already`,
        { context: { kid: name.kid } },
      );
    }
    this.#keys.set(slot(name), "sign" in key ? key : { ...key });
  }
}

function slot({ host, kid }: KeyName): string {
  requireHost(host);
  requireKid(kid);
  return `${host}/${kid}`;
}
