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

  read(name: KeyName): Promise<KeptKey | undefined> {
    return settle(() => this.#keys.get(slot(name)));
  }

  has(name: KeyName): Promise<boolean> {
    return settle(() => this.#keys.has(slot(name)));
  }

  write(name: KeyName, key: KeptKey): Promise<void> {
    return settle(() => {
      if (this.#keys.has(slot(name))) {
        throw new SigError(
          "kid_exists",
          `Cannot keep key: there is one for ${name.kid} already`,
          { context: { kid: name.kid } },
        );
      }
      this.#keys.set(slot(name), "sign" in key ? key : { ...key });
    });
  }
}

function slot({ host, kid }: KeyName): string {
  requireHost(host);
  requireKid(kid);
  return `${host}/${kid}`;
}

function settle<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}
