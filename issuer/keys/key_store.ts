/** The contract of what keeps an issuer's private keys. @module */

import type { PrivateJwk } from "@sig/core";

/** Which key: the issuer's `host` or `host:port`, and the `kid`. */
export interface KeyName {
  /** Host of the issuer's did:web, with its port if it has one. */
  readonly host: string;
  /** Key identifier: `[A-Za-z0-9._-]{1,64}`, not starting with a dot. */
  readonly kid: string;
}

/**
 * Keeps private keys. A key is never changed and never removed. Every method
 * rejects with a `SigError`: `store_unavailable` when reading fails,
 * `write_failed` when writing fails, `invalid_key` for a damaged key; none of
 * them ever says anything of the key itself.
 */
export interface KeyStore {
  /** The private key, undefined when it isn't here. */
  read(name: KeyName): Promise<PrivateJwk | undefined>;
  /** Whether the private key is here. */
  has(name: KeyName): Promise<boolean>;
  /** Keeps a new key, durably. Rejects with `kid_exists`, keeping the old one. */
  write(name: KeyName, key: PrivateJwk): Promise<void>;
}
