/** Adds a signing key (docs/protocol.md §11). @module */

import {
  type Jwk,
  type OpenObject,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { isObject, quote } from "@sig/core/internal";
import {
  createKeyResolver,
  generateSigningKey,
  readDidDocument,
  type SigningKey,
  type VerificationKey,
} from "@sig/jose/keys";
import { findSignerFault } from "@sig/jose/recovery";
import {
  buildPublicJwk,
  buildVerificationMethod,
  encodeDocument,
} from "./build_documents.ts";
import type { IssuerDocuments } from "./documents.ts";
import type { FeedWriter } from "../store/feed_store.ts";
import {
  type KeptKey,
  type KeyStore,
  kidExists,
  requireKid,
  toSigningKey,
} from "../keys/key_store.ts";
import { isAuthorized, isSigningKey, type Keys } from "./signing_key.ts";

/** Options of a rotation. */
export interface RotateKeyOptions {
  /** Kid of the new key: `[A-Za-z0-9._-]{1,64}`, not starting with a dot. */
  readonly kid: string;
  /** The new key (default: a new private key). */
  readonly key?: KeptKey;
  /**
   * Publish the key even if no older key can introduce it (default: false).
   * Readers that remember a proof then refuse the issuer with
   * `key_not_introduced`, until their operators accept the key.
   */
  readonly unintroduced?: boolean | undefined;
}

/** A new signing key that was checked; nothing is written yet. */
export interface AddedKey {
  /** The key, ready to sign. */
  readonly key: SigningKey;
  /** The key as readers will resolve it. */
  readonly published: VerificationKey;
  /** Makes the private key durable, unless it is already. */
  store(): Promise<void>;
  /** Publishes the key in the key set, then authorises it. */
  publish(writer: FeedWriter): Promise<void>;
}

/**
 * Prepares a signing key: `store` makes its private part durable, then
 * `publish` adds it to the key set, and to the DID document. An interrupted
 * rotation leaves an issuer that signs with its old key; running it again with
 * the same kid completes it and keeps what exists.
 *
 * @throws {SigError} `kid_exists`, `invalid_identifier`, `invalid_key`,
 * `document_too_large`; `store` and `publish` `write_failed`.
 */
export async function prepareSigningKey(
  options: RotateKeyOptions,
  documents: IssuerDocuments,
  keys: Keys,
): Promise<AddedKey> {
  const { authorized, host, limits } = documents;
  const { kid } = options;
  requireKid(kid);
  const store = isSigningKey(keys) ? undefined : keys;
  const kept = await store?.read({ host, kid });
  refuseTaken(kid, documents, kept !== undefined);
  const picked = await pickKey(options, documents, kept, store);
  const key = await toSigningKey(picked, kid);
  const { x } = key.publicJwk;
  const fault = documents.recovery && findSignerFault(documents.recovery, x);
  if (fault !== undefined) {
    throw new SigError("invalid_key", {
      action: `add key ${quote(kid)}`,
      reason: fault,
      context: { kid, hint: "Nothing was changed. Make another key." },
    });
  }
  const keptX = kept && ("sign" in kept ? kept.publicJwk : kept).x;
  for (const other of [authorized?.get(kid), keptX]) {
    if (other !== undefined && other !== x) throw isAnother(kid);
  }
  const jwks = withKey(documents.jwks, key.publicJwk, documents);
  const didDocument = withMethod(documents, key.publicJwk);
  const jwksBytes = encodeDocument(jwks, limits.maxJwksBytes);
  const didBytes = didDocument &&
    encodeDocument(didDocument, limits.maxDidDocumentBytes);
  // Reads the new documents as a consumer will before publishing them.
  const resolver = await createKeyResolver(jwks, {
    authorized: didDocument && readDidDocument(didDocument, documents.issuer),
    limits,
  });
  const published = resolver.resolve(kid);
  if (published.jwk.x !== x) throw isAnother(kid);
  return {
    key,
    published,
    async store() {
      if (kept !== undefined) return;
      const named = "sign" in picked ? picked : { ...picked, kid };
      await store?.write({ host, kid }, named);
    },
    async publish(writer) {
      if (jwks !== documents.jwks) {
        await writer.replace(documents.jwksPath, jwksBytes);
      }
      if (didBytes && didDocument !== documents.didDocument) {
        await writer.replace(WELL_KNOWN_PATHS.did_document, didBytes);
      }
    },
  };
}

/** Refuses the kid of a key that can already sign, or that SIG ignores. */
function refuseTaken(
  kid: string,
  documents: IssuerDocuments,
  isKept: boolean,
): void {
  const isUsable = documents.keys.keys.has(kid);
  const isSkipped = !isUsable &&
    entriesOf(documents.jwks, "keys").some((entry) => entry.kid === kid);
  if (isSkipped || (isKept && isAuthorized(documents, kid))) {
    throw kidExists(kid, "a key of this kid is published already");
  }
}

async function pickKey(
  options: RotateKeyOptions,
  documents: IssuerDocuments,
  kept: KeptKey | undefined,
  store: KeyStore | undefined,
): Promise<KeptKey> {
  const { kid, key } = options;
  if (key !== undefined) return key;
  if (kept !== undefined) return kept;
  if (documents.keys.keys.has(kid)) {
    throw kidExists(kid, "it is published, and its private part is not here");
  }
  if (store === undefined) {
    throw new TypeError(
      "Cannot rotate: without a key store the new private key must be given",
    );
  }
  return await generateSigningKey({ kid });
}

/** Returns the key set with the key, or the same object if it has it. */
function withKey(
  jwks: OpenObject,
  key: Jwk,
  { keys }: IssuerDocuments,
): OpenObject {
  if (keys.keys.has(key.kid ?? "")) return jwks;
  return { ...jwks, keys: [...entriesOf(jwks, "keys"), buildPublicJwk(key)] };
}

/** Authorises the key; returns the same object if it is. */
function withMethod(
  { authorized, didDocument, issuer }: IssuerDocuments,
  key: Jwk,
): OpenObject | undefined {
  if (didDocument === undefined || authorized?.has(key.kid ?? "")) {
    return didDocument;
  }
  const method = buildVerificationMethod(issuer, key);
  const methods = entriesOf(didDocument, "verificationMethod");
  const ids = [method.id, `#${key.kid}`];
  const isListed = methods.some(({ id }) => ids.includes(id as string));
  const assertions = didDocument.assertionMethod;
  return {
    ...didDocument,
    verificationMethod: isListed ? methods : [...methods, method],
    assertionMethod: [
      ...Array.isArray(assertions) ? assertions : [],
      method.id,
    ],
  };
}

function entriesOf(document: OpenObject, name: string): readonly OpenObject[] {
  const list = document[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function isAnother(kid: string): SigError {
  return kidExists(kid, "this kid stands for another key");
}
