/** Chooses the key that signs. @module */

import {
  isSigError,
  type OpenObject,
  SigError,
  type SigMetadata,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { SigningKey, VerificationKey } from "@sig/jose/keys";
import type { IssuerDocuments } from "./documents.ts";
import {
  isOwnKid,
  isReferenced,
  type KeyStore,
  toSigningKey,
} from "../keys/key_store.ts";

/** Private keys: a key store, or a single key. */
export type Keys = KeyStore | SigningKey;

/** The published documents that a key source may need. */
export interface PublishedDocuments {
  /** The metadata, `sig.json`. */
  readonly metadata: SigMetadata;
  /** The key set, including members that SIG does not define. */
  readonly jwks: OpenObject;
}

/**
 * The source of private keys. A function is called with the documents once they
 * are read, and may refuse by throwing.
 */
export type KeySource =
  | Keys
  | ((documents: PublishedDocuments) => Keys | Promise<Keys>);

/** Returns the private keys for these documents. */
export async function resolveKeys(
  keys: KeySource,
  documents: PublishedDocuments,
): Promise<Keys> {
  return typeof keys === "function" ? await keys(documents) : keys;
}

export function isSigningKey(keys: Keys): keys is SigningKey {
  return "sign" in keys;
}

/**
 * Returns the key of that kid; without a kid, the last key of the key set that
 * the DID document authorises and whose private part is available.
 *
 * @throws {SigError} `signing_key_not_found`, `key_not_authorized`,
 * `invalid_key` if the private key does not match the published key.
 */
export async function chooseSigningKey(
  documents: IssuerDocuments,
  source: KeySource,
  kid?: string,
): Promise<SigningKey> {
  const keys = await resolveKeys(source, documents);
  const wanted = kid ?? (isSigningKey(keys) ? keys.kid : undefined);
  const kids = wanted === undefined ? kidsNewestFirst(documents) : [wanted];
  for (const each of kids) {
    const key = await findKey(documents, keys, each);
    if (key !== undefined) return requirePublished(key, documents);
  }
  throw new SigError("signing_key_not_found", {
    action: "sign",
    reason: wanted === undefined
      ? "the private part of none of the issuer's keys is in the key store"
      : `there is no private key ${quote(wanted)}`,
    context: wanted !== undefined ? { kid: wanted } : {
      issuer: documents.issuer,
      hint: "Name the private key, or add a new one by a rotation.",
    },
  });
}

/**
 * Returns the published keys that may sign events and have not ended, the
 * newest first.
 */
export function kidsNewestFirst(documents: IssuerDocuments): readonly string[] {
  return [...authorizedKeys(documents).keys()].reverse()
    .filter((kid) => documents.keys.endOf(kid) === undefined);
}

/**
 * Returns whether the key that {@linkcode chooseSigningKey} chooses is kept in
 * an agent, where a signature may wait for a person; false if this is not known
 * yet.
 */
export async function isKeptElsewhere(
  documents: IssuerDocuments,
  keys: KeySource,
  kid?: string,
): Promise<boolean> {
  if (typeof keys === "function") return false;
  const { host } = documents;
  for (const each of kidsNewestFirst(documents)) {
    const isHere = isSigningKey(keys)
      ? keys.kid === each
      : isOwnKid(each) && await keys.has({ host, kid: each });
    if (isHere && (kid ?? each) === each) {
      return await isReference(documents, keys, each);
    }
  }
  return false;
}

async function isReference(
  { host }: IssuerDocuments,
  keys: Keys,
  kid: string,
): Promise<boolean> {
  return isSigningKey(keys)
    ? isReferenced(keys)
    : isOwnKid(kid) && await keys.reference?.({ host, kid }) !== undefined;
}

export function isAuthorized(
  documents: IssuerDocuments,
  kid: string,
): boolean {
  const x = documents.keys.keys.get(kid)?.jwk.x;
  const { authorized } = documents;
  return x !== undefined &&
    (authorized === undefined || authorized.get(kid) === x);
}

export function authorizedKeys(
  documents: IssuerDocuments,
): ReadonlyMap<string, VerificationKey> {
  const keys = [...documents.keys.keys];
  return new Map(keys.filter(([kid]) => isAuthorized(documents, kid)));
}

/**
 * Returns every key that may sign events and whose private part is available,
 * the newest first. Keys in an agent can be left out; an older key that its
 * agent does not have is skipped.
 *
 * @throws {SigError} `invalid_key` if a key does not match the published key,
 * `signing_key_not_found` if the newest key is missing in its agent, unless
 * `skipMissing`.
 */
export async function heldKeys(
  documents: IssuerDocuments,
  sources: readonly KeySource[],
  { skipMissing = false, withoutReferences = false }: {
    readonly skipMissing?: boolean | undefined;
    readonly withoutReferences?: boolean | undefined;
  } = {},
): Promise<readonly SigningKey[]> {
  const held = new Map<string, SigningKey>();
  const kids = kidsNewestFirst(documents);
  for (const source of sources) {
    const keys = await resolveKeys(source, documents);
    for (const kid of kids) {
      if (withoutReferences && await isReference(documents, keys, kid)) {
        continue;
      }
      const key = await findKey(documents, keys, kid).catch((error) => {
        const maySkip = skipMissing || kid !== kids[0];
        if (maySkip && isSigError(error, "signing_key_not_found")) return;
        throw error;
      });
      if (key === undefined || held.has(kid)) continue;
      held.set(kid, requirePublished(key, documents));
    }
  }
  return kids.flatMap((kid) => held.get(kid) ?? []);
}

/** Returns the key of that kid, if its private part is available. */
async function findKey(
  { host }: IssuerDocuments,
  keys: Keys,
  kid: string,
): Promise<SigningKey | undefined> {
  if (isSigningKey(keys)) return keys.kid === kid ? keys : undefined;
  if (!isOwnKid(kid)) return undefined;
  const kept = await keys.read({ host, kid });
  return kept && await toSigningKey(kept, kid);
}

/** A signature by any other key could not be verified by readers. */
function requirePublished(
  key: SigningKey,
  documents: IssuerDocuments,
): SigningKey {
  if (!documents.keys.keys.has(key.kid)) {
    throw new SigError("signing_key_not_found", {
      action: "sign",
      reason: `key ${quote(key.kid)} is not in the issuer's key set`,
      context: { kid: key.kid },
    });
  }
  if (documents.keys.endOf(key.kid) !== undefined) {
    throw new SigError("signing_key_not_found", {
      action: "sign",
      reason: `the issuer's recovery key ended key ${quote(key.kid)}`,
      context: { kid: key.kid },
    });
  }
  const published = documents.keys.resolve(key.kid);
  if (published.jwk.x === key.publicJwk.x) return key;
  throw new SigError("invalid_key", {
    action: "sign",
    reason: `another key is published as ${quote(key.kid)}`,
    context: { kid: key.kid },
  });
}
