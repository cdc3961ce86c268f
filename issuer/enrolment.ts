/** From a verified answer to the relationship (docs/protocol.md §9). @module */

import {
  compareInstants,
  instantOf,
  parseTimestamp,
  type RelationshipType,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { VerifiedAnswer } from "@sig/jose";
import { invitationUsed } from "./append/append_batch.ts";
import type { UpsertDraft } from "./append/draft.ts";
import {
  activeOfPerson,
  personIn,
  type PublishedState,
} from "./plan/published.ts";

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
 *
 * @param person Needed for the further key of a person: type, roles and dates
 * are then those of that person now. Append the draft only while the feed ends
 * as this state does.
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
      // Always given, so that an event of this id with other dates is a conflict.
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
  // Only what the append compares: the person's relationship may have changed.
  if (enrolled !== undefined) {
    const { relationship_type, sequence, subject: first } = enrolled.upsert;
    if (first !== subject) throw invitationUsed(sequence);
    return { ...draft, relationship_type };
  }
  const named = { subject: claims.same_person_as, now };
  const { relationship_type, roles, valid_from, valid_until } =
    relationshipToShare(state, named, claims.relationship_type);
  requireFurtherKey(state, subject, claims.same_person_as);
  // To the root, so that a chain of devices never gets too long for readers.
  const same_person_as = personIn(state, claims.same_person_as);
  return {
    ...draft,
    ...{ relationship_type, roles, valid_from, valid_until },
    metadata: { same_person_as },
  };
}

/**
 * The relationship that a further key of a subject gets: its only one that is
 * active and has not expired, or the only one of a type where there are several.
 *
 * @throws {SigError} `unknown_relationship`, `ambiguous_relationship`.
 */
export function relationshipToShare(
  { relationships }: PublishedState,
  { subject, now }: { readonly subject: string; readonly now: Date },
  type?: RelationshipType,
): RelationshipUpsertEvent {
  const all = [...relationships.values()].flatMap(({ status, upsert }) => {
    const end = parseTimestamp(upsert.valid_until);
    const isOver = end !== undefined &&
      compareInstants(end, instantOf(now)) <= 0;
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
    throw new SigError(
      "unknown_relationship",
      `Cannot add a key: ${quote(subject)} has no active relationship`,
    );
  }
  throw new SigError(
    "ambiguous_relationship",
    `Cannot add a key: ${
      quote(subject)
    } has ${all.length} active relationships`,
    {
      context: {
        relationship_ids: all.map(({ relationship_id }) => relationship_id),
        hint: "sig invite --also SUBJECT --type TYPE names one of them.",
      },
    },
  );
}

/** A link that readers ignore would make a person that offboarding misses. */
function requireFurtherKey(
  state: PublishedState,
  subject: string,
  person: string,
): void {
  const root = personIn(state, person);
  const isKnown = state.canLink?.(subject, root) === false ||
    Iterator.from(state.relationships.values())
      .some(({ upsert }) => upsert.subject === subject);
  const isOther = personIn(state, subject) !== root;
  const isActive = activeOfPerson(state, subject)
    .some(({ upsert }) => upsert.subject === subject);
  if (!isActive && !(isKnown && isOther)) return;
  throw new SigError(
    "subject_mismatch",
    isOther
      ? `Cannot enrol: the feed knows ${quote(subject)} as another person`
      : `Cannot enrol: ${
        quote(subject)
      } already is an active key of this person`,
    { context: { hint: "Answer on the new device, with a key of its own." } },
  );
}
