/** From a verified answer to the relationship (PROTOCOL §7b). @module */

import { isSigError, SigError } from "@sig/core";
import type { VerifiedAnswer } from "@sig/jose";
import type { AppendedEvent } from "./append/append_drafts.ts";
import type { UpsertDraft } from "./append/event_draft.ts";
import type { Issuer } from "./open_issuer.ts";

/**
 * What enrolling publishes: the invitation's terms and who answered, but
 * not the name that it was for. The `event_id` is `inv-` and the `jti`, and a
 * feed has each id once: that makes an invitation single-use. (PROTOCOL §7b)
 */
export function enrolmentDraft(
  { invitation: { claims }, subject }: VerifiedAnswer,
): UpsertDraft {
  return {
    event_type: "relationship.upsert",
    event_id: `inv-${claims.jti}`,
    subject,
    relationship_type: claims.relationship_type,
    roles: claims.roles,
    // Told, so that an event of that id with other dates is another one.
    valid_from: claims.valid_from ?? null,
    valid_until: claims.valid_until ?? null,
  };
}

/**
 * Appends the relationship that was offered. With the same subject again
 * nothing is written: the old sequence is returned, `repeated` is true. The
 * lock of the feed lets one of several at a time win. (PROTOCOL §7b)
 *
 * @example
 * ```ts
 * import {
 *   createMemoryKeyStore,
 *   createMemoryStore,
 *   enrol,
 *   initIssuer,
 *   openIssuer,
 * } from "@sig/issuer";
 * import {
 *   answerInvitation,
 *   createInvitation,
 *   generateSigningKey,
 *   importSigningKey,
 *   verifyAnswer,
 * } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const now = () => new Date();
 * const store = createMemoryStore();
 * const keys = createMemoryKeyStore();
 * await initIssuer({ store, keys, did: "did:web:acme.example" });
 * await using issuer = await openIssuer({ store, keys, now });
 *
 * const acme = await issuer.identity();
 * const invitation = await createInvitation({
 *   issuer: acme.did,
 *   key: acme.signingKey,
 *   terms: { relationship_type: "employee", roles: ["deploy"] },
 *   now,
 * });
 * // The person's side:
 * const key = await importSigningKey(await generateSigningKey());
 * const answer = await answerInvitation({ invitation, key, now });
 *
 * const verified = await verifyAnswer(answer, {
 *   issuer: acme.did,
 *   keys: acme.keys,
 *   now,
 * });
 * assertEquals((await enrol(issuer, verified)).sequence, 1);
 * assertEquals((await enrol(issuer, verified)).repeated, true);
 * ```
 *
 * @throws {SigError} `invitation_used` with `context.sequence` where the
 * invitation brought somebody else in; else as `append` of `openIssuer`.
 */
export async function enrol(
  issuer: Issuer,
  answer: VerifiedAnswer,
): Promise<AppendedEvent> {
  try {
    return await issuer.append(enrolmentDraft(answer));
  } catch (error) {
    if (!isSigError(error, "duplicate_event_id")) throw error;
    const { sequence } = error.context;
    throw new SigError(
      "invitation_used",
      "Cannot enrol: the invitation was used already, by somebody else",
      {
        context: {
          ...(typeof sequence === "number" ? { sequence } : {}),
          hint: "Find out who it was (sig log), then make a new invitation.",
        },
        cause: error,
      },
    );
  }
}
