/** Creation of invitations (docs/protocol.md §9). @module */

import { instantOf, INVITATION_TYP } from "@sig/core";
import {
  DEFAULT_INVITATION_SECONDS,
  type InvitationTerms,
  type ParsedInvitation,
  parseInvitation,
  readInvitationClaims,
} from "./invitation.ts";
import { encodeBase64Url } from "../bytes/bytes.ts";
import { signCompactJws } from "../event/jws.ts";
import type { SigningKey } from "../keys/signing_key.ts";

/** Options of {@linkcode createInvitation}. */
export interface CreateInvitationOptions {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The key that signs the issuer's events. */
  readonly key: SigningKey;
  /** The terms of the offered relationship. */
  readonly terms: InvitationTerms;
  /** Validity in seconds: 3,600 to 7,776,000 (default: 604,800, 7 days). */
  readonly ttlSeconds?: number;
  /** Returns the current time. */
  readonly now: () => Date;
}

/**
 * Creates an invitation: a signed text that its first holder can answer once,
 * so give it to the invited person only. Nothing is stored (docs/protocol.md
 * §9).
 *
 * @example From the invitation to the verified answer
 * ```ts
 * import {
 *   answerInvitation,
 *   createInvitation,
 *   createKeyResolver,
 *   generateSigningKey,
 *   importSigningKey,
 *   jwkToDidKey,
 *   verifyAnswer,
 *   verifyInvitation,
 * } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const now = () => new Date("2026-01-31T09:00:00Z");
 * const issuer = "did:web:acme.example";
 *
 * // The issuer:
 * const orgKey = await importSigningKey(
 *   await generateSigningKey({ kid: "orgsign-1" }),
 * );
 * const terms = { relationship_type: "employee", roles: ["deploy"] } as const;
 * const { text } = await createInvitation({ issuer, key: orgKey, terms, now });
 *
 * // The person, with the keys that the issuer publishes:
 * const keys = await createKeyResolver({ keys: [orgKey.publicJwk] });
 * const invitation = await verifyInvitation(text, { issuer, keys, now });
 * assertEquals(invitation.expires_at, "2026-02-07T09:00:00Z");
 * const key = await importSigningKey(await generateSigningKey());
 * const answer = await answerInvitation({ invitation, key, now });
 *
 * // The issuer again:
 * const { subject } = await verifyAnswer(answer, { issuer, keys, now });
 * assertEquals(subject, jwkToDidKey(key.publicJwk));
 * ```
 *
 * @throws {SigError} `invalid_invitation` for invalid terms, with
 * `context.pointer`; also if it would be longer than 16 KiB.
 */
export async function createInvitation(
  options: CreateInvitationOptions,
): Promise<ParsedInvitation> {
  const { issuer, key, terms } = options;
  const iat = instantOf(options.now()).seconds;
  const claims = readInvitationClaims({
    iss: issuer,
    jti: encodeBase64Url(crypto.getRandomValues(new Uint8Array(32))),
    iat,
    exp: iat + (options.ttlSeconds ?? DEFAULT_INVITATION_SECONDS),
    relationship_type: terms.relationship_type,
    roles: terms.roles,
    valid_from: terms.valid_from,
    valid_until: terms.valid_until,
    for: terms.for,
    same_person_as: terms.same_person_as,
  });
  const header = { alg: "EdDSA", typ: INVITATION_TYP, kid: key.kid };
  return parseInvitation(await signCompactJws(header, claims, key));
}
