/** The key of a did:web subject, from its published document. @module */

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
import { fetchDocument } from "./reader.ts";

/** Options of {@linkcode fetchSubjectKey}. */
export interface FetchSubjectKeyOptions {
  /** Reach private addresses too, and read them as `http:`: for tests only. */
  readonly allowPrivate?: boolean;
  /** Gets the DID document; default: {@linkcode fetchDocument}. */
  readonly fetchDocument?: (
    url: string,
    options: { readonly maxBytes: number },
  ) => Promise<Uint8Array>;
}

/**
 * The key that a did:web publishes under `authentication` (docs/protocol.md §7),
 * fetched each time: one that was taken out of the document counts no more.
 *
 * What can't be got or read is `key_unresolvable`: nothing is known against the
 * subject, and trying again may help. A document that was read and does not list
 * the key is an answer: the signature is not the subject's.
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
 *   fetchDocument: () =>
 *     Promise.resolve(new TextEncoder().encode(JSON.stringify(document))),
 * });
 * assertEquals(key.jwk.x, x);
 * ```
 *
 * @param kid `<did>#<fragment>`, as the attestation's header has it.
 * @throws {SigError} `key_unresolvable` (with `context.reason`),
 * `attestation_signature_invalid` when the document does not list the key,
 * `invalid_header` for a malformed did:web, `address_not_allowed`,
 * `invalid_key`.
 */
export async function fetchSubjectKey(
  kid: string,
  options: FetchSubjectKeyOptions = {},
): Promise<VerificationKey> {
  const [did = ""] = kid.split("#", 1);
  const keys = await readKeys(did, subjectDocumentUrl(did, options), options);
  const x = keys.get(kid.slice(did.length + 1));
  if (x !== undefined) {
    return await importVerificationKey({ kty: "OKP", crv: "Ed25519", x, kid });
  }
  throw new SigError(
    "attestation_signature_invalid",
    `Cannot accept attestation: the DID document of ${
      quote(did)
    } does not list its kid under authentication`,
    {
      context: {
        kid,
        hint: "Sign with a key that did.json lists under authentication.",
      },
    },
  );
}

/**
 * Where the document of a did:web that signs is. The DID is a signed header's,
 * not a caller's mistake.
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
  { allowPrivate = false }: Pick<FetchSubjectKeyOptions, "allowPrivate"> = {},
): string {
  try {
    return parseDidWeb(did, { allowPrivate }).didDocumentUrl;
  } catch (error) {
    if (!isSigError(error, "invalid_identifier")) throw error;
    throw new SigError("invalid_header", error, { cause: error });
  }
}

async function readKeys(
  did: string,
  url: string,
  options: FetchSubjectKeyOptions,
): Promise<ReadonlyMap<string, string>> {
  const maxBytes = DEFAULT_LIMITS.maxDidDocumentBytes;
  const { allowPrivate = false } = options;
  try {
    const bytes = options.fetchDocument === undefined
      ? await fetchDocument(url, { maxBytes, allowPrivate })
      : await options.fetchDocument(url, { maxBytes });
    return readDidDocument(parseJson(bytes), did, {
      relationship: "authentication",
    });
  } catch (error) {
    if (isSigError(error, "address_not_allowed")) throw error;
    if (!isSigError(error) && !(error instanceof JsonError)) throw error;
    throw new SigError(
      "key_unresolvable",
      `Cannot get the keys of ${quote(did)}: its DID document can't be used`,
      {
        context: {
          reason: isSigError(error) ? error.code : "invalid_did_document",
          hint: `Check that ${url} can be fetched, or try again later.`,
        },
        cause: error,
      },
    );
  }
}
