/** Which keys of an issuer may sign. @module */

import type { KeyResolver, VerificationKey } from "@sig/jose/keys";

/** Returns whether a key is published and authorised, also if it has ended. */
export function maySign(keys: KeyResolver, kid: string): boolean {
  try {
    return keys.resolve(kid) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the keys that may sign events and have not ended, by kid. */
export function signingKeys(
  keys: KeyResolver,
): ReadonlyMap<string, VerificationKey> {
  return new Map(
    [...keys.keys].filter(([kid]) =>
      maySign(keys, kid) && keys.endOf(kid) === undefined
    ),
  );
}
