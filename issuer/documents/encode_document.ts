/** Documents as they are written. @module */

import { SigError } from "@sig/core";

/**
 * A document's bytes, for people to read as well.
 *
 * @throws {SigError} `document_too_large`: readers would refuse it.
 */
export function encodeDocument(
  document: unknown,
  maxBytes: number,
): Uint8Array {
  const bytes = new TextEncoder().encode(
    `${JSON.stringify(document, null, 2)}\n`,
  );
  if (bytes.length <= maxBytes) return bytes;
  throw new SigError(
    "document_too_large",
    `Cannot publish document: it would have ${bytes.length} bytes (at most ${maxBytes})`,
    { context: { limit: maxBytes } },
  );
}
