/** Rotates to a new signing key (docs/protocol.md §11). @module */

import { isSigError, SigError, type Warning } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { FeedSession } from "./append/feed_session.ts";
import {
  prepareSigningKey,
  type RotateKeyOptions,
} from "./documents/add_signing_key.ts";
import type { IssuerDocuments } from "./documents/documents.ts";
import {
  heldKeys,
  isAuthorized,
  isSigningKey,
} from "./documents/signing_key.ts";
import {
  type NextKey,
  proofsBehind,
  publishProofs,
  publishProofsIfAny,
} from "./proofs/publish_proofs.ts";
import type { FeedWriter } from "./store/feed_store.ts";

/** The result of {@linkcode Issuer.rotateKey}. */
export interface RotatedKey {
  /** Identifier of the new key, which signs from now on. */
  readonly kid: string;
  /** `proofs_behind` if the proofs could not be signed again. */
  readonly warnings: readonly Warning[];
}

/** Implements {@linkcode Issuer.rotateKey}. */
export async function rotateKey(
  session: FeedSession,
  options: RotateKeyOptions,
): Promise<RotatedKey> {
  return await session.takeTurn(async (writer, documents) => {
    const keys = await session.ownKeys(documents);
    // A published key is refused, or only its private part is added.
    const isIntroduced = documents.metadata.proofs_uri !== undefined &&
      !isAuthorized(documents, options.kid) &&
      await canIntroduce(session, documents, options);
    const added = await prepareSigningKey(options, documents, keys);
    const { key, published } = added;
    await added.store();
    session.options.faults?.onStep?.("key-stored");
    let warnings = isIntroduced
      ? await introduce(session, writer, { key, published }, options)
      : [];
    await added.publish(writer);
    session.signWith(key.kid);
    if (isSigningKey(keys)) session.replaceKey(keys, key);
    if (!isIntroduced) {
      const { unintroduced: dropAll } = options;
      warnings = await publishProofsIfAny(session, writer, { dropAll })
        .catch(proofsBehind);
    }
    return { kid: key.kid, warnings };
  });
}

/** Returns whether a key other than the new one can sign the checkpoint. */
async function canIntroduce(
  { sources }: FeedSession,
  documents: IssuerDocuments,
  { kid, unintroduced }: RotateKeyOptions,
): Promise<boolean> {
  const options = { skipMissing: unintroduced };
  const held = await heldKeys(documents, sources, options);
  if (held.some((key) => key.kid !== kid)) return true;
  if (unintroduced) return false;
  throw new SigError("signing_key_not_found", {
    action: `introduce key ${quote(kid)}`,
    reason: "the private part of none of the issuer's older keys is available",
    context: {
      kid,
      hint:
        "Nothing was changed. Make an older key available (key store, ssh-agent, SIG_KEY_FILE). If all are lost: --unintroduced; readers that remember a proof then refuse this issuer (key_not_introduced) until sig pin ack there.",
    },
  });
}

/**
 * Publishes a checkpoint that names a new key, signed by it and the older
 * ones, before the key itself: otherwise readers would refuse the key.
 */
async function introduce(
  session: FeedSession,
  writer: FeedWriter,
  next: NextKey,
  { unintroduced }: RotateKeyOptions,
): Promise<readonly Warning[]> {
  const options = { dropAll: unintroduced, skipMissing: unintroduced };
  try {
    await publishProofs(session, writer, options, next);
    return [];
  } catch (error) {
    // A stolen key must be replaced even if the proofs can't be updated.
    if (!isSigError(error, "subject_changed")) throw error;
    await publishProofs(session, writer, { ...options, stay: true }, next);
    return proofsBehind(error);
  }
}
