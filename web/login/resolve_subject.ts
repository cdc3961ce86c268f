/** The key of a did:web subject, from its DID document (docs/protocol.md §7). @module */

import { fetchSubjectKey, subjectDocumentUrl } from "@sig/consumer";
import type { VerificationKey } from "@sig/jose";
import {
  createSubjectFetches,
  type SubjectFetchLimits,
} from "./subject_fetches.ts";
import type { ResolveSubjectKey } from "./subject_keys.ts";

/**
 * Gets one document over https, with every guard that fetching at a stranger's
 * word needs (docs/protocol.md §10): public addresses only, no redirects, limits on
 * bytes and time. What keeps it from that is a `SigError`.
 */
export type FetchDocument = (
  url: string,
  options: { readonly maxBytes: number },
) => Promise<Uint8Array>;

/** What {@linkcode createSubjectResolver} needs. */
export interface SubjectResolverOptions {
  /** Gets the DID document; who may be asked is for it to say. */
  readonly fetchDocument: FetchDocument;
  /** Read IP addresses and `localhost` as `http://`: for tests only. */
  readonly allowPrivate?: boolean;
  /** How many documents are fetched at once, and for one challenge. */
  readonly limits?: SubjectFetchLimits;
}

/**
 * Makes the way to the keys of did:web subjects. The document is fetched for
 * each attestation, so a key that was taken out of it counts no more; for one
 * challenge three times at most, and from one host four at a time (see
 * `createSubjectFetches`).
 *
 * What can't be got or read is `key_unresolvable`: nothing is known against the
 * subject, and trying again may help. A document that was read and does not
 * list the key under `authentication` is an answer: the signature is not the
 * subject's, `attestation_signature_invalid`, which counts as a failure.
 *
 * @example
 * ```ts
 * import { createSubjectResolver } from "./resolve_subject.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const did = "did:web:alice.example";
 * const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
 * const document = {
 *   id: did,
 *   authentication: [{
 *     id: `${did}#key-1`,
 *     type: "JsonWebKey2020",
 *     controller: did,
 *     publicKeyJwk: { kty: "OKP", crv: "Ed25519", x },
 *   }],
 * };
 * const resolve = createSubjectResolver({
 *   fetchDocument: () =>
 *     Promise.resolve(new TextEncoder().encode(JSON.stringify(document))),
 * });
 * assertEquals((await resolve(did, `${did}#key-1`)).jwk.x, x);
 * ```
 *
 * @throws {SigError} from what it returns: `key_unresolvable` (with
 * `context.reason`), `overloaded`, `attestation_signature_invalid`,
 * `invalid_header` for a malformed did:web, `address_not_allowed`,
 * `invalid_key`.
 */
export function createSubjectResolver(
  options: SubjectResolverOptions,
): ResolveSubjectKey {
  const run = createSubjectFetches(options.limits);
  return async (did, kid, challengeId): Promise<VerificationKey> => {
    const { host } = new URL(subjectDocumentUrl(did, options));
    return await run(
      { did, host, challengeId },
      () => fetchSubjectKey(kid, options),
    );
  };
}
