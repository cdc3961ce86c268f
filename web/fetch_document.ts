/** A stranger's document over https, guarded (SECURITY §3). @module */

import { type FetchPolicy, openSource } from "@sig/consumer";
import { SigError } from "@sig/core";
import type { FetchDocument } from "./login/resolve_subject.ts";

/**
 * Makes what gets the DID documents of did:web subjects: public addresses only,
 * no redirects, limits on bytes and time.
 *
 * @throws {SigError} from the function: as the consumer's fetch of a document.
 */
export function createFetchDocument(policy: FetchPolicy): FetchDocument {
  return async (url, { maxBytes }) => {
    const { reader } = openSource({ kind: "url", url }, policy);
    const document = await reader.open(url, { name: "did_document", maxBytes });
    const bytes = new Uint8Array(maxBytes);
    let length = 0;
    try {
      for await (const chunk of document.bytes) {
        if (length + chunk.length > maxBytes) throw tooLarge(maxBytes);
        bytes.set(chunk, length);
        length += chunk.length;
      }
    } finally {
      await document.cancel();
    }
    return bytes.subarray(0, length);
  };
}

function tooLarge(limit: number): SigError {
  return new SigError(
    "document_too_large",
    `Cannot read DID document: it is larger than ${limit} bytes`,
    { context: { limit } },
  );
}
