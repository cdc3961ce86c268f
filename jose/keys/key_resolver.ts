/** Key sets, and the key of a `kid` (docs/protocol.md §1.5, RFC 7517). @module */

import {
  DEFAULT_LIMITS,
  type ErrorCode,
  type Limits,
  type OpenObject,
  SigError,
} from "@sig/core";
import {
  isKid,
  isObject,
  MAX_KID_LENGTH,
  member,
  quote,
} from "@sig/core/internal";
import {
  BackendChoice,
  importKey,
  type VerificationBackend,
  type VerificationKey,
} from "./verification_key.ts";
import { invalidKey } from "./public_key.ts";

/** The keys that may sign an issuer's events. */
export interface KeyResolver {
  /** Every usable key of the key set by its kid, authorised or not. */
  readonly keys: ReadonlyMap<string, VerificationKey>;
  /**
   * Returns the key of exactly this kid. It never sends a request, even if the
   * kid is a URL.
   *
   * @throws {SigError} `key_not_found`, `key_not_authorized`.
   */
  resolve(kid: string): VerificationKey;
  /**
   * Returns the sequence after which events of a key are void; undefined unless
   * a statement of the issuer's recovery key has ended it (docs/protocol.md
   * §14). A key that ended signs nothing but the events up to that sequence.
   */
  endOf(kid: string): number | undefined;
}

/**
 * Returns whether an event is void: a statement of the issuer's recovery key
 * has ended its key before it (docs/protocol.md §14).
 */
export function isVoidEvent(
  keys: Pick<KeyResolver, "endOf">,
  kid: string,
  sequence: number,
): boolean {
  return sequence > (keys.endOf(kid) ?? Infinity);
}

/**
 * Returns the key of a kid that may still sign.
 *
 * @throws {SigError} `key_not_found`, also for a key that has ended;
 * `key_not_authorized`.
 */
export function resolveCurrent(
  keys: KeyResolver,
  kid: string,
): VerificationKey {
  if (keys.endOf(kid) === undefined) return keys.resolve(kid);
  throw refusal("key_not_found", kid, "the issuer's recovery key ended it");
}

/** Options of {@linkcode createKeyResolver}. */
export interface CreateKeyResolverOptions {
  /**
   * The keys that the issuer's DID document authorises (from
   * `readDidDocument`): `x` by kid. Undefined only if there is no DID document;
   * then every key may sign.
   */
  readonly authorized?: ReadonlyMap<string, string> | undefined;
  /** Limits; only `maxJwksKeys` is used (default: `DEFAULT_LIMITS`). */
  readonly limits?: Limits;
  /** The verifier (default: `auto`; `node` suits a large feed). */
  readonly backend?: VerificationBackend;
  /**
   * Previously imported keys by kid. A key that is published with the same
   * `kid` and `x` is reused with its backend. The checks of the key set do not
   * change.
   */
  readonly known?: ReadonlyMap<string, VerificationKey> | undefined;
}

/**
 * Reads a published key set. The set is rejected for a private member, for a
 * key with invalid bytes, and for a duplicate kid. The organisation's other
 * keys (no kid, another `kty`, `crv`, `use`, `alg`, or `key_ops` without
 * `verify`) are skipped (docs/protocol.md §1).
 *
 * The argument is parsed JSON; parse it with core's strict `parseJson`, which
 * rejects duplicate members.
 *
 * No key of the result has ended. If the issuer's metadata has `recovery`, pass
 * the result to `endKeysOf` of `@sig/jose/recovery`: otherwise events of a stolen
 * key would still count.
 *
 * @example
 * ```ts
 * import { createKeyResolver } from "@sig/jose";
 * import { isSigError } from "@sig/core";
 * import { assert, assertEquals, assertThrows } from "@std/assert";
 *
 * const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"; // RFC 8037, A.2
 * const jwks = { keys: [{ kty: "OKP", crv: "Ed25519", x, kid: "key-1" }] };
 *
 * const keys = await createKeyResolver(jwks);
 * assertEquals(keys.resolve("key-1").jwk.x, x);
 * const error = assertThrows(() => keys.resolve("key-2"));
 * assert(isSigError(error, "key_not_found"));
 *
 * // A DID document that authorises nothing:
 * const none = await createKeyResolver(jwks, { authorized: new Map() });
 * assert(
 *   isSigError(assertThrows(() => none.resolve("key-1")), "key_not_authorized"),
 * );
 * ```
 *
 * @throws {SigError} `private_key_in_jwks`, `invalid_key` (also for anything
 * but a key set), `duplicate_kid`, `document_too_large`.
 * @throws {TypeError} if backend `node` is requested but not available.
 */
export async function createKeyResolver(
  jwks: unknown,
  options: CreateKeyResolverOptions = {},
): Promise<KeyResolver> {
  const { usable, skipped } = readKeySet(
    jwks,
    options.limits ?? DEFAULT_LIMITS,
  );
  const choice = new BackendChoice(options.backend);
  const keys = new Map<string, VerificationKey>();
  for (const [kid, jwk] of usable) {
    const before = options.known?.get(kid);
    const isSame = before !== undefined && before.kid === kid &&
      before.jwk.x === member(jwk, "x");
    keys.set(kid, isSame ? before : await importKey(jwk, choice));
  }
  return {
    keys,
    resolve: (kid) => authorizedKey(kid, keys, skipped, options.authorized),
    // Without statements, no key has ended.
    endOf: () => undefined,
  };
}

/** Returns the key of a kid, if the documents authorise it. */
function authorizedKey(
  kid: string,
  keys: ReadonlyMap<string, VerificationKey>,
  skipped: ReadonlyMap<string, string>,
  authorized: ReadonlyMap<string, string> | undefined,
): VerificationKey {
  const key = keys.get(kid);
  if (key === undefined) {
    const reason = skipped.get(kid);
    throw refusal(
      "key_not_found",
      kid,
      "the key set has no such key",
      reason,
    );
  }
  if (authorized === undefined) return key;
  const x = authorized.get(kid);
  if (x === key.jwk.x) return key;
  throw refusal(
    "key_not_authorized",
    kid,
    x === undefined
      ? "the DID document's assertionMethod does not list it"
      : "the DID document has another key under this kid",
  );
}

function refusal(
  code: ErrorCode,
  kid: string,
  why: string,
  skipReason?: string,
): SigError {
  const hint = skipReason === undefined
    ? {}
    : { hint: `The key set lists this kid, but skips it: ${skipReason}.` };
  // The kid is from an unverified header and may be long.
  const shown = kid.slice(0, MAX_KID_LENGTH).toWellFormed();
  return new SigError(code, {
    action: `use key ${quote(kid)}`,
    reason: why,
    context: { kid: shown, ...hint },
  });
}

/** The entries of a key set, before any key is imported. */
interface KeySetEntries {
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
function readKeySet(jwks: unknown, limits: Limits): KeySetEntries {
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
        "kid must be a string of 1 to 256 characters, none of them a control character",
      );
    }
    if (usable.has(kid)) {
      throw new SigError("duplicate_kid", {
        action: "use key set",
        reason: `kid ${quote(kid)} belongs to two keys`,
        context: { kid },
      });
    }
    usable.set(kid, entry);
  }
  return { usable, skipped };
}

function listEntries(jwks: unknown, limits: Limits): readonly OpenObject[] {
  const keys = isObject(jwks) ? member(jwks, "keys") : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject)) {
    throw new SigError("invalid_key", {
      action: "use key set",
      reason: 'it must be an object with an array "keys" of objects',
    });
  }
  if (keys.length > limits.maxJwksKeys) {
    throw new SigError("document_too_large", {
      action: "use key set",
      reason: `it has ${keys.length} keys (at most ${limits.maxJwksKeys})`,
      context: { limit: limits.maxJwksKeys },
    });
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
  throw new SigError("private_key_in_jwks", {
    action: "use key set",
    reason: `it publishes a secret (member ${secret} of ${
      isKid(kid) ? `key ${quote(kid)}` : "a key without kid"
    })`,
    context: { ...named, hint },
  });
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
