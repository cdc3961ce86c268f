/** From a header's `kid` to the key (docs/protocol.md §1.5). @module */

import {
  DEFAULT_LIMITS,
  type ErrorCode,
  type Limits,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import { BackendChoice, type VerificationBackend } from "./platform.ts";
import { MAX_KID_LENGTH, member } from "../bytes/json_object.ts";
import { readKeySet } from "./key_set.ts";
import { importKey, type VerificationKey } from "./verification_key.ts";

/** Finds the keys that may sign an issuer's events. */
export interface KeyResolver {
  /** Every usable key of the set by its kid, authorised or not. */
  readonly keys: ReadonlyMap<string, VerificationKey>;
  /**
   * The key of that exact kid. Nothing is fetched, whatever the kid looks like.
   *
   * @throws {SigError} `key_not_found`, `key_not_authorized`.
   */
  resolve(kid: string): VerificationKey;
}

/** Options of {@linkcode createKeyResolver}. */
export interface CreateKeyResolverOptions {
  /**
   * What the issuer's DID document authorises, from `readDidDocument`: `x` by
   * kid. Undefined only when there is no DID document: then every key signs.
   */
  readonly authorized?: ReadonlyMap<string, string> | undefined;
  /** Only `maxJwksKeys` is used (default: `DEFAULT_LIMITS`). */
  readonly limits?: Limits;
  /** Default: `auto`; `node` for whole feeds of a known large size. */
  readonly backend?: VerificationBackend;
  /**
   * Keys that were imported before, by kid: one whose `kid` and `x` are
   * published again is used again, with its backend. A set is refused and keys
   * are skipped as without.
   */
  readonly known?: ReadonlyMap<string, VerificationKey> | undefined;
}

/**
 * Reads a published key set. It is refused as a whole for a secret in it, for
 * a key whose bytes are wrong and for one kid twice; an organisation's other
 * keys (no kid, another `kty`, `crv`, `use`, `alg`, or `key_ops` without
 * `verify`) are skipped as if they were absent. (docs/protocol.md §1)
 *
 * The argument is parsed JSON; parse it with core's strict `parseJson`, which
 * refuses doubled members.
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
 * @throws {SigError} `private_key_in_jwks`, `invalid_key` (also for what is no
 * key set at all), `duplicate_kid`, `document_too_large`.
 * @throws {TypeError} when backend `node` is requested and the platform has none.
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
  };
}

/** The key of a kid that the documents authorise. */
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
  // A kid comes from a header that is not verified yet, and may be long.
  const shown = kid.slice(0, MAX_KID_LENGTH).toWellFormed();
  return new SigError(code, `Cannot use key ${quote(kid)}: ${why}`, {
    context: { kid: shown, ...hint },
  });
}
