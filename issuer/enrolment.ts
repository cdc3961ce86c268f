/**
 * Turns a verified answer to an invitation into a relationship
 * (docs/protocol.md §9).
 *
 * @module
 */

import {
  instantOf,
  type RelationshipType,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import { quote, validityAt } from "@sig/core/internal";
import type { VerifiedAnswer } from "@sig/jose";
import { invitationUsed } from "./append/append_batch.ts";
import type { UpsertDraft } from "./append/draft.ts";
import { isBefore, PersonIndex, secondOf } from "./plan/person_index.ts";
import type { PublishedState } from "./plan/published.ts";

/**
 * Returns the draft for an answered invitation: the invitation's terms and the
 * subject that answered, but not the invited person's name. The `event_id` is
 * `inv-` and the `jti`, and a feed has each id once, so an invitation is
 * single-use. Appending the draft again for the same subject returns the old
 * sequence (`repeated`); for another subject, `append` rejects with
 * `invitation_used` (docs/protocol.md §9).
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
 *
 * @param person Required for a further key of a person, which receives the
 * current type, roles and end of that person, and begins now. Append the draft only if the
 * feed still ends with the event of this state.
 *
 * @throws {SigError} of a further key: `unknown_relationship`,
 * `ambiguous_relationship`, `invitation_used`, and `subject_mismatch` for a
 * subject that the feed knows as another person, or that has the relationship
 * already.
 */
export function enrolmentDraft(
  { invitation: { claims }, subject }: VerifiedAnswer,
  person?: { readonly state: PublishedState; readonly now: Date },
): UpsertDraft {
  const draft = {
    event_type: "relationship.upsert",
    event_id: `inv-${claims.jti}`,
    subject,
  } as const;
  if (claims.same_person_as === undefined) {
    return {
      ...draft,
      relationship_type: claims.relationship_type,
      roles: claims.roles,
      // Always set, so that an event with this id but other dates is a
      // conflict.
      valid_from: claims.valid_from ?? null,
      valid_until: claims.valid_until ?? null,
    };
  }
  if (person === undefined) {
    throw new TypeError("Cannot enrol a further key: the state is missing");
  }
  const { state, now } = person;
  const enrolled = [...state.relationships.values()].find((each) =>
    each.first_event_id === draft.event_id
  );
  // Only the compared members: the person's relationship may have changed.
  if (enrolled !== undefined) {
    const { relationship_type, sequence, subject: first } = enrolled.upsert;
    if (first !== subject) throw invitationUsed(sequence);
    return { ...draft, relationship_type };
  }
  const named = { subject: claims.same_person_as, now };
  const { relationship_type, roles, valid_from, valid_until } =
    relationshipToShare(state, named, claims.relationship_type);
  requireFurtherKey(state, subject, claims.same_person_as);
  // Link to the root, so that a chain of devices never becomes too long for
  // readers.
  const begins = secondOf(now);
  const same_person_as = state.personOf(claims.same_person_as);
  return {
    ...draft,
    relationship_type,
    roles,
    // A further key begins when it is enrolled, not when the person did.
    valid_from: isBefore(valid_from, begins) ? begins : valid_from,
    valid_until,
    metadata: { same_person_as },
  };
}

/**
 * Returns the relationship that a further key of a subject receives: the only
 * active, unexpired one, or the only one of the given type.
 *
 * @throws {SigError} `unknown_relationship`, `ambiguous_relationship`.
 */
export function relationshipToShare(
  { relationships }: PublishedState,
  { subject, now }: { readonly subject: string; readonly now: Date },
  type?: RelationshipType,
): RelationshipUpsertEvent {
  const all = [...relationships.values()].flatMap(({ status, upsert }) => {
    const isOver = validityAt(upsert, instantOf(now)) === "expired";
    return status === "active" && upsert.subject === subject && !isOver
      ? [upsert]
      : [];
  });
  const some = all.length < 2
    ? all
    : all.filter(({ relationship_type }) => relationship_type === type);
  const [found, ...more] = some;
  if (found !== undefined && more.length === 0) return found;
  if (all.length === 0) {
    throw new SigError("unknown_relationship", {
      action: "add a key",
      reason: `${quote(subject)} has no active relationship`,
    });
  }
  throw new SigError("ambiguous_relationship", {
    action: "add a key",
    reason: `${quote(subject)} has ${all.length} active relationships`,
    context: {
      relationship_ids: all.map(({ relationship_id }) => relationship_id),
      hint: "sig invite --also SUBJECT --type TYPE names one of them.",
    },
  });
}

/** Readers would ignore this link, and offboarding would miss the person. */
function requireFurtherKey(
  state: PublishedState,
  subject: string,
  person: string,
): void {
  const root = state.personOf(person);
  const isOther = state.personOf(subject) !== root;
  const isActive = new PersonIndex(state).activeOf(subject)
    .some(({ upsert }) => upsert.subject === subject);
  if (!isActive && (!isOther || state.canLink(subject, root))) return;
  throw new SigError("subject_mismatch", {
    action: "enrol",
    reason: isOther
      ? `the feed knows ${quote(subject)} as another person`
      : `${quote(subject)} already is an active key of this person`,
    context: { hint: "Answer on the new device, with a key of its own." },
  });
}
