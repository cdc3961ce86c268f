/** Validation of a key set (docs/protocol.md §1, RFC 7517). @module */

import { type Limits, type OpenObject, SigError } from "@sig/core";
import { isKid, isObject, member, quote } from "@sig/core/internal";
import { invalidKey } from "./public_key.ts";

/** The entries of a key set, before any key is imported. */
export interface KeySetEntries {
  /** The keys to import, by kid. */
  readonly usable: ReadonlyMap<string, OpenObject>;
  /** The reason why a key is skipped, by kid; for messages only. */
  readonly skipped: ReadonlyMap<string, string>;
}

/** Private members in a JWK of any type (RFC 7518 §6; `priv` of AKP). */
const PRIVATE_MEMBERS: readonly string[] = [
  "d",
  "p",
  "q",
  "dp",
  "dq",
  "qi",
  "oth",
  "k",
  "priv",
];

/**
 * Splits the entries of a key set into keys to use and keys to skip.
 *
 * @throws {SigError} `invalid_key` for anything but a key set, or for an
 * invalid kid, `document_too_large`, `private_key_in_jwks`, `duplicate_kid`.
 */
export function readKeySet(jwks: unknown, limits: Limits): KeySetEntries {
  const entries = listEntries(jwks, limits);
  // A published private key is reported before any other fault.
  for (const entry of entries) refusePrivate(entry);
  const usable = new Map<string, OpenObject>();
  const skipped = new Map<string, string>();
  for (const entry of entries) {
    const reason = findSkipReason(entry);
    const kid = member(entry, "kid");
    if (reason !== undefined) {
      if (isKid(kid)) skipped.set(kid, reason);
      continue;
    }
    if (!isKid(kid)) {
      throw invalidKey(
        "kid must be a string of 1 to 256 characters without control ones",
      );
    }
    if (usable.has(kid)) {
      throw new SigError(
        "duplicate_kid",
        `Cannot use key set: kid ${quote(kid)} belongs to two keys`,
        { context: { kid } },
      );
    }
    usable.set(kid, entry);
  }
  return { usable, skipped };
}

function listEntries(jwks: unknown, limits: Limits): readonly OpenObject[] {
  const keys = isObject(jwks) ? member(jwks, "keys") : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject)) {
    throw new SigError(
      "invalid_key",
      'Cannot use key set: it must be an object with an array "keys" of objects',
    );
  }
  if (keys.length > limits.maxJwksKeys) {
    throw new SigError(
      "document_too_large",
      `Cannot use key set: it has ${keys.length} keys (at most ${limits.maxJwksKeys})`,
      { context: { limit: limits.maxJwksKeys } },
    );
  }
  return keys;
}

function refusePrivate(entry: OpenObject): void {
  const secret = member(entry, "kty") === "oct"
    ? "k"
    : PRIVATE_MEMBERS.find((name) => Object.hasOwn(entry, name));
  if (secret === undefined) return;
  const kid = member(entry, "kid");
  const named = isKid(kid) ? { kid } : {};
  const hint =
    "This key is no longer a secret: replace it wherever it is used.";
  throw new SigError(
    "private_key_in_jwks",
    `Cannot use key set: it publishes a secret (member ${secret} of ${
      isKid(kid) ? `key ${quote(kid)}` : "a key without kid"
    })`,
    { context: { ...named, hint } },
  );
}

/** Returns why to skip a key: a set may contain other keys too. */
function findSkipReason(entry: OpenObject): string | undefined {
  const has = (name: string) => Object.hasOwn(entry, name);
  if (member(entry, "kty") !== "OKP") return 'its "kty" is not OKP';
  if (member(entry, "crv") !== "Ed25519") return 'its "crv" is not Ed25519';
  if (!has("kid")) return "it has no kid";
  if (has("use") && entry.use !== "sig") return 'its "use" is not sig';
  if (has("alg") && entry.alg !== "EdDSA") return 'its "alg" is not EdDSA';
  if (!has("key_ops")) return undefined;
  const operations = entry.key_ops;
  if (Array.isArray(operations) && operations.includes("verify")) {
    return undefined;
  }
  return 'its "key_ops" lacks verify';
}
