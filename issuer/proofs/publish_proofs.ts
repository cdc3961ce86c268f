/** Publishes the proofs of an open issuer. @module */

import { isSigError, type Warning } from "@sig/core";
import type { Checkpoint } from "@sig/jose/proofs";
import type { FeedSession } from "../append/feed_session.ts";
import type { IssuerDocuments } from "../documents/documents.ts";
import { heldKeys, isKeptElsewhere } from "../documents/signing_key.ts";
import { isReferenced } from "../keys/key_store.ts";
import type { FeedWriter } from "../store/feed_store.ts";
import {
  type NextKey,
  updateProofs,
  type UpdateProofsOptions,
} from "./update_proofs.ts";

/**
 * Brings the proofs up to the feed's end, signed with every available key.
 *
 * @throws {SigError} as {@linkcode Issuer.checkpoint}; nothing is signed then.
 */
export async function publishProofs(
  session: FeedSession,
  writer: FeedWriter,
  options: UpdateProofsOptions,
  next?: NextKey,
): Promise<Checkpoint> {
  const documents = await session.readDocuments();
  const held = await heldKeys(documents, session.sources, options);
  options.onKeys?.(held);
  const { now, store } = session.options;
  return await session.withFeed(writer, documents, (feed, known) => {
    const context = { documents, feed, held, known, next, store, writer };
    return updateProofs({ ...context, now: now() }, options);
  });
}

/** Publishes proofs with the keys of no agent, if the issuer publishes any. */
export async function publishProofsIfAny(
  session: FeedSession,
  writer: FeedWriter,
  options: UpdateProofsOptions = {},
): Promise<readonly Warning[]> {
  const documents = await session.readDocuments();
  if (documents.metadata.proofs_uri === undefined) return [];
  if (await newestIsElsewhere(session, documents)) {
    const detail =
      "the newest key is in an agent; sig checkpoint brings the proofs up to the feed's end";
    return [{ code: "proofs_behind", detail }];
  }
  await publishProofs(session, writer, { ...options, withoutReferences: true });
  return [];
}

async function newestIsElsewhere(
  session: FeedSession,
  documents: IssuerDocuments,
): Promise<boolean> {
  for (const source of session.sources) {
    if (await isKeptElsewhere(documents, source)) return true;
  }
  return isReferenced(await session.signingKey(documents));
}

/** The events are already durable: proofs that fail are only behind. */
export function proofsBehind(error: unknown): readonly Warning[] {
  if (!isSigError(error)) throw error;
  const detail = `the proofs were not updated: ${error.message}`;
  return [{ code: "proofs_behind", detail }];
}
