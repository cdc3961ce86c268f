/** Recovers an open issuer from stolen and lost keys. @module */

import {
  formatInstant,
  instantOf,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  commitmentTo,
  readRecovery,
  type Recovery,
  type RecoveryMember,
  signStatement,
} from "@sig/jose/recovery";
import { type AppendedEvent, appendInTurn } from "../append/append_batch.ts";
import type { FeedSession, FeedWork } from "../append/feed_session.ts";
import { prepareSigningKey } from "../documents/add_signing_key.ts";
import { encodeDocument } from "../documents/build_documents.ts";
import type { IssuerDocuments } from "../documents/documents.ts";
import { heldKeys, isAuthorized } from "../documents/signing_key.ts";
import { publishProofs } from "../proofs/publish_proofs.ts";
import { nameDrafts } from "./corrective_drafts.ts";
import {
  keysAfter,
  planRecovery,
  type RecoveryPlan,
  type RecoveryRequest,
  requireSameEnds,
  requireSameKey,
} from "./plan_recovery.ts";

/** The result of {@linkcode Issuer.recover}. */
export interface RecoveredIssuer {
  /** Identifier of the new key, which signs from now on. */
  readonly kid: string;
  /** Number of the statement. */
  readonly statement: number;
  /** The corrective events. */
  readonly events: readonly AppendedEvent[];
}

/** Implements {@linkcode Issuer.createRecovery}. */
export async function createRecovery(
  session: FeedSession,
  x: string,
): Promise<void> {
  await session.takeTurn(async (writer, documents) => {
    const recovery = await firstCommitment(documents, x);
    await publishProofs(session, writer, { init: true, recovery });
    session.forgetDocuments();
    const metadata = await encodeMetadata(
      await session.readDocuments(),
      recovery.member,
    );
    await writer.replace(WELL_KNOWN_PATHS.metadata, metadata);
    session.forgetDocuments();
  });
}

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
 * Returns `sig.json` with a member `recovery` that readers accept.
 *
 * @throws {SigError} `invalid_recovery`, `document_too_large`.
 */
async function encodeMetadata(
  { issuer, limits, metadata }: IssuerDocuments,
  recovery: RecoveryMember,
): Promise<Uint8Array> {
  await readRecovery(recovery, issuer);
  return encodeDocument({ ...metadata, recovery }, limits.maxMetadataBytes);
}

/** Returns the work of {@linkcode Issuer.planRecovery}. */
export function planOnFeed(
  { options, sources }: FeedSession,
  request: RecoveryRequest,
): FeedWork<RecoveryPlan> {
  return async (feed, { head }, documents) => {
    const held = await heldKeys(documents, sources, { skipMissing: true });
    const bytes = await feed.read(0, head!.bytes);
    return await planRecovery(documents, bytes, request, {
      now: options.now(),
      held: held.map(({ kid }) => kid),
    });
  };
}

/** Implements {@linkcode Issuer.recover}. */
export async function recover(
  session: FeedSession,
  request: RecoveryRequest,
): Promise<RecoveredIssuer> {
  return await session.takeTurn(async (writer, documents) => {
    const { member } = documents.recovery ?? {};
    const work = planOnFeed(session, request);
    const plan = await session.withFeed(writer, documents, work);
    requireSameEnds(plan, request);
    const { kid } = plan;
    let statement = plan.isPublished ? member!.statements.at(-1)! : "";
    if (!plan.isPublished || !isAuthorized(documents, kid)) {
      const own = await session.ownKeys(documents);
      const added = await prepareSigningKey({ kid }, documents, own);
      const { x } = added.key.publicJwk;
      let metadata: Uint8Array | undefined;
      if (plan.isPublished) requireSameKey(plan, x);
      else {
        const keys = keysAfter(documents, plan.claims.ended, { kid, x });
        const claims = { ...plan.claims, keys };
        statement = await signStatement(claims, request.recoveryKey);
        const statements = [...member!.statements, statement];
        const recovery = { ...member!, statements };
        metadata = await encodeMetadata(documents, recovery);
      }
      await added.store();
      session.options.faults?.onStep?.("key-stored");
      if (metadata !== undefined) {
        await writer.replace(WELL_KNOWN_PATHS.metadata, metadata);
      }
      await added.publish(writer);
    }
    session.signWith(kid);
    const now = session.options.now();
    const at = formatInstant(instantOf(now));
    const drafts = nameDrafts(plan.drafts, statement, at);
    const events = await appendInTurn(
      session,
      writer,
      await session.readDocuments(),
      drafts,
      { allowWarnings: true, now },
    );
    await publishProofs(session, writer, { init: true, rebuild: true });
    return { kid, statement: plan.claims.n, events };
  });
}
