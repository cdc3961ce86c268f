/** Fetches the key of a did:web subject from its published document. @module */

import {
  DEFAULT_LIMITS,
  isSigError,
  JsonError,
  parseDidWeb,
  parseJson,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  importVerificationKey,
  readDidDocument,
  type VerificationKey,
} from "@sig/jose/keys";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { guardedFetch } from "../fetch/guarded_fetch.ts";
import { readAll } from "./reader.ts";

/**
 * Returns the key that a did:web publishes under `authentication`
 * (docs/protocol.md §7). Fetches the document each time, so that a key that was
 * removed is no longer accepted.
 *
 * A document that can't be fetched or parsed is `key_unresolvable`: it is no
 * evidence against the subject, and a retry may help. If the document was read
 * and does not list the key, the signature is not the subject's.
 *
 * @example
 * ```ts
 * import { fetchSubjectKey } from "@sig/consumer";
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
 * const key = await fetchSubjectKey(`${did}#key-1`, {
 *   fetch: () => Promise.resolve(Response.json(document)),
 * });
 * assertEquals(key.jwk.x, x);
 * ```
 *
 * @param kid `<did>#<fragment>` from the attestation's header.
 * @param policy Options for fetching the document.
 * @throws {SigError} `key_unresolvable` (with `context.reason`),
 * `attestation_signature_invalid` when the document does not list the key,
 * `invalid_header` for a malformed did:web, `address_not_allowed`,
 * `invalid_key`.
 */
export async function fetchSubjectKey(
  kid: string,
  policy: FetchPolicy = {},
): Promise<VerificationKey> {
  const [did = ""] = kid.split("#", 1);
  const keys = await readKeys(did, subjectDocumentUrl(did, policy), policy);
  const x = keys.get(kid.slice(did.length + 1));
  if (x !== undefined) {
    return await importVerificationKey({ kty: "OKP", crv: "Ed25519", x, kid });
  }
  throw new SigError("attestation_signature_invalid", {
    action: "accept attestation",
    reason: `the DID document of ${
      quote(did)
    } does not list its kid under authentication`,
    context: {
      kid,
      hint: "Sign with a key that did.json lists under authentication.",
    },
  });
}

/**
 * Returns the URL of the document of a did:web that signs. The DID comes from a
 * signed header, so a malformed one is not the caller's mistake.
 *
 * @example
 * ```ts
 * import { subjectDocumentUrl } from "@sig/consumer/internal";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   subjectDocumentUrl("did:web:alice.example"),
 *   "https://alice.example/.well-known/did.json",
 * );
 * ```
 *
 * @throws {SigError} `invalid_header` for a malformed did:web.
 */
export function subjectDocumentUrl(
  did: string,
  { allowPrivate = false }: Pick<FetchPolicy, "allowPrivate"> = {},
): string {
  try {
    return parseDidWeb(did, { allowPrivate }).didDocumentUrl;
  } catch (error) {
    if (!isSigError(error, "invalid_identifier")) throw error;
    throw new SigError("invalid_header", {
      action: error.action,
      reason: error.reason,
      cause: error,
    });
  }
}

async function readKeys(
  did: string,
  url: string,
  policy: FetchPolicy,
): Promise<ReadonlyMap<string, string>> {
  const maxBytes = DEFAULT_LIMITS.maxDidDocumentBytes;
  const tooLargeCode = "document_too_large";
  try {
    const options = { ...policy, maxBytes, tooLargeCode } as const;
    const bytes = await readAll(await guardedFetch(url, options), maxBytes);
    return readDidDocument(parseJson(bytes), did, {
      relationship: "authentication",
    });
  } catch (error) {
    if (isSigError(error, "address_not_allowed")) throw error;
    if (!isSigError(error) && !(error instanceof JsonError)) throw error;
    throw new SigError("key_unresolvable", {
      action: `get the keys of ${quote(did)}`,
      reason: "its DID document can't be used",
      context: {
        reason: isSigError(error) ? error.code : "invalid_did_document",
        hint: `Check that ${url} can be fetched, or try again later.`,
      },
      cause: error,
    });
  }
}
