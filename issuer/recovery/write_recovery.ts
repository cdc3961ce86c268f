/** Writes the member `recovery` of an issuer's metadata. @module */

import { SigError, WELL_KNOWN_PATHS } from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  commitmentTo,
  readRecovery,
  type Recovery,
  type RecoveryMember,
} from "@sig/jose/recovery";
import { encodeDocument } from "../documents/build_documents.ts";
import type { IssuerDocuments } from "../documents/documents.ts";
import type { FeedWriter } from "../store/feed_store.ts";

/**
 * Returns the commitment to a first recovery key.
 *
 * @param x The public recovery key, base64url.
 * @throws {SigError} `issuer_exists` if there is one, `invalid_key` for a key
 * that signs events.
 */
export async function firstCommitment(
  { issuer, keys, recovery }: IssuerDocuments,
  x: string,
): Promise<Recovery> {
  if (recovery !== undefined) {
    throw new SigError("issuer_exists", {
      action: "create recovery key",
      reason: "the issuer has one",
      context: { hint: "Nothing was changed. A recovery names the next." },
    });
  }
  for (const [kid, { jwk }] of keys.keys) {
    if (jwk.x !== x) continue;
    throw new SigError("invalid_key", {
      action: "create recovery key",
      reason: `it is the signing key ${quote(kid)}`,
      context: { kid },
    });
  }
  const member = { commitment: commitmentTo(x), statements: [] };
  return await readRecovery(member, issuer);
}

/**
 * Writes `sig.json` with a member `recovery` that readers accept.
 *
 * @throws {SigError} `invalid_recovery`, `document_too_large`, `write_failed`.
 */
export async function writeRecovery(
  writer: FeedWriter,
  { issuer, limits, metadata }: IssuerDocuments,
  recovery: RecoveryMember,
): Promise<void> {
  await readRecovery(recovery, issuer);
  await writer.replace(
    WELL_KNOWN_PATHS.metadata,
    encodeDocument({ ...metadata, recovery }, limits.maxMetadataBytes),
  );
}
