/** Which key signs. @module */

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

/** Private keys: a store of them, or the one key itself. */
export type Keys = KeyStore | SigningKey;

/** What the issuer publishes, as far as a key source may need it. */
export interface PublishedDocuments {
  /** Metadata. */
  readonly metadata: SigMetadata;
  /** The key set, with members of others. */
  readonly jwks: OpenObject;
}

/**
 * Where private keys come from; also as a function of the documents, which is
 * asked once they are read, and may refuse by throwing.
 */
export type KeySource =
  | Keys
  | ((documents: PublishedDocuments) => Keys | Promise<Keys>);

/** The private keys for these documents. */
export async function resolveKeys(
  keys: KeySource,
  documents: PublishedDocuments,
): Promise<Keys> {
  return typeof keys === "function" ? await keys(documents) : keys;
}

/** Whether there is a single key. */
export function isSigningKey(keys: Keys): keys is SigningKey {
  return "sign" in keys;
}

/**
 * The key of that kid; without one the last of the key set that the DID
 * document authorises and whose private part is at hand.
 *
 * @throws {SigError} `signing_key_not_found`, `key_not_authorized`,
 * `invalid_key` when the private key is not the one that is published.
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
  throw new SigError(
    "signing_key_not_found",
    wanted === undefined
      ? "Cannot sign: the private part of none of the issuer's keys is in the key store"
      : `Cannot sign: there is no private key ${quote(wanted)}`,
    {
      context: wanted !== undefined ? { kid: wanted } : {
        issuer: documents.issuer,
        hint: "Name the private key, or add a new one by a rotation.",
      },
    },
  );
}

/** The keys that may sign events. */
function kidsNewestFirst(documents: IssuerDocuments): readonly string[] {
  return [...authorizedKeys(documents).keys()].reverse();
}

/**
 * Whether the key that {@linkcode chooseSigningKey} chooses is kept elsewhere,
 * so that a signature may wait for a person; false if that can't be known yet.
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

/** Whether a published key may sign events. */
export function isAuthorized(
  documents: IssuerDocuments,
  kid: string,
): boolean {
  const x = documents.keys.keys.get(kid)?.jwk.x;
  const { authorized } = documents;
  return x !== undefined &&
    (authorized === undefined || authorized.get(kid) === x);
}

/** The keys that may sign events, by kid. */
export function authorizedKeys(
  documents: IssuerDocuments,
): ReadonlyMap<string, VerificationKey> {
  const keys = [...documents.keys.keys];
  return new Map(keys.filter(([kid]) => isAuthorized(documents, kid)));
}

/**
 * Every key that may sign events and whose private part is at hand, the newest
 * first. Keys that are kept elsewhere are left out on request; an older one of
 * them that can't be found is not at hand.
 *
 * @throws {SigError} `invalid_key` when one is not the one that is published,
 * `signing_key_not_found` when the newest can't be found where it is kept.
 */
export async function heldKeys(
  documents: IssuerDocuments,
  sources: readonly KeySource[],
  { withoutReferences = false }: {
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
        const isOlder = kid !== kids[0];
        if (isOlder && isSigError(error, "signing_key_not_found")) return;
        throw error;
      });
      if (key === undefined || held.has(kid)) continue;
      held.set(kid, requirePublished(key, documents));
    }
  }
  return kids.flatMap((kid) => held.get(kid) ?? []);
}

/** The key of that kid, if its private part is at hand. */
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

/** Signing with any other key would write events that nobody can verify. */
function requirePublished(
  key: SigningKey,
  documents: IssuerDocuments,
): SigningKey {
  if (!documents.keys.keys.has(key.kid)) {
    throw new SigError(
      "signing_key_not_found",
      `Cannot sign: key ${quote(key.kid)} is not in the issuer's key set`,
      { context: { kid: key.kid } },
    );
  }
  const published = documents.keys.resolve(key.kid);
  if (published.jwk.x === key.publicJwk.x) return key;
  throw new SigError(
    "invalid_key",
    `Cannot sign: another key is published as ${quote(key.kid)}`,
    { context: { kid: key.kid } },
  );
}
