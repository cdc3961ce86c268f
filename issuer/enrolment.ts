/** From a verified answer to the relationship (docs/protocol.md §9). @module */

import type { VerifiedAnswer } from "@sig/jose";
import type { UpsertDraft } from "./append/draft.ts";

/**
 * What enrolling publishes: the invitation's terms and who answered, but
 * not the name that it was for. The `event_id` is `inv-` and the `jti`, and a
 * feed has each id once: that makes an invitation single-use. Appended again for
 * the same subject, the old sequence is returned (`repeated`); for another one,
 * `append` rejects with `invitation_used`. (docs/protocol.md §9)
 *
 * @example
 * ```ts
 * import {
 *   createMemoryKeyStore,
 *   createMemoryStore,
 *   enrolmentDraft,
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
 * const draft = enrolmentDraft(verified);
 * assertEquals((await issuer.append(draft)).sequence, 1);
 * assertEquals((await issuer.append(draft)).repeated, true);
 * ```
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
