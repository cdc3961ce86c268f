/** The key of whoever answered an invitation. @module */

import { fetchDocument } from "@sig/consumer";
import {
  DEFAULT_LIMITS,
  isSigError,
  JsonError,
  parseDidWeb,
  parseJson,
  quote,
  SigError,
} from "@sig/core";
import {
  type AttestationKeyResolver,
  importVerificationKey,
  readDidDocument,
  resolveDidKey,
} from "@sig/jose";
import type { Call } from "../command_line/command.ts";

/**
 * Finds a did:key in itself, and the key of a did:web under `authentication` of
 * its published document (PROTOCOL §7).
 *
 * @throws {SigError} from what it returns: `key_unresolvable` when the document
 * can't be got or read, `attestation_signature_invalid` when it does not list
 * the key, `address_not_allowed`, and for what is no DID of these two.
 */
export function createSubjectKeys(call: Call): AttestationKeyResolver {
  return async (kid) => {
    if (!kid.startsWith("did:web:")) return await resolveDidKey(kid);
    const [did, fragment] = splitAt(kid, kid.indexOf("#"));
    const allowPrivate = call.on("allow-insecure");
    const url = parseDidWeb(did, { allowPrivate }).didDocumentUrl;
    const x = (await readKeys(did, url, allowPrivate)).get(fragment);
    if (x === undefined) {
      throw new SigError(
        "attestation_signature_invalid",
        `Cannot accept attestation: the DID document of ${
          quote(did)
        } does not list its kid under authentication`,
        { context: { kid } },
      );
    }
    return await importVerificationKey({ kty: "OKP", crv: "Ed25519", x, kid });
  };
}

function splitAt(text: string, at: number): readonly [string, string] {
  return [text.slice(0, at), text.slice(at + 1)];
}

async function readKeys(
  did: string,
  url: string,
  allowPrivate: boolean,
): Promise<ReadonlyMap<string, string>> {
  const maxBytes = DEFAULT_LIMITS.maxDidDocumentBytes;
  try {
    const bytes = await fetchDocument(url, { maxBytes, allowPrivate });
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
