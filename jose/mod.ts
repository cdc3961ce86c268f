/**
 * Keys and signatures of SIG: strict Ed25519 on every platform, key sets, event
 * envelopes, did:key, login attestations and invitations.
 *
 * @example Sign a line and verify it
 * ```ts
 * import { parseFeedLine } from "@sig/core";
 * import {
 *   createKeyResolver,
 *   generateSigningKey,
 *   importSigningKey,
 *   signEvent,
 *   verifyEnvelope,
 * } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const jwk = await generateSigningKey({ kid: "orgsign-1" });
 * const key = await importSigningKey(jwk);
 * const line = JSON.stringify(await signEvent({ sequence: 1 }, key));
 *
 * const keys = await createKeyResolver({ keys: [key.publicJwk] });
 * const { kid } = await verifyEnvelope(parseFeedLine(line), keys);
 * assertEquals(kid, "orgsign-1");
 * ```
 *
 * @module
 */
export {
  type AttestationChallenge,
  type AttestationClaims,
  type AttestationHeader,
  ENROL_SCOPE,
  MAX_ATTESTATION_LENGTH,
  parseAttestation,
  type ParsedAttestation,
  type SignableChallenge,
} from "./attestation/attestation.ts";
export {
  describeChallenge,
  type DescribedChallenge,
  isScopeToken,
  MAX_SCOPES,
  validateSignableChallenge,
  type ValidChallenge,
  type ValidSignableChallenge,
} from "./attestation/challenge.ts";
export {
  type AttestationPreview,
  previewAttestation,
  signAttestation,
  type SignAttestationOptions,
} from "./attestation/sign_attestation.ts";
export {
  type AttestationKeyResolver,
  verifyAttestation,
  type VerifyAttestationOptions,
} from "./attestation/verify_attestation.ts";
export {
  answerInvitation,
  type AnswerInvitationOptions,
  type InvitationAnswer,
  requireUnexpired,
  type VerifiedAnswer,
  verifyAnswer,
  type VerifyAnswerOptions,
  verifyInvitation,
  type VerifyInvitationOptions,
} from "./invitation/answer.ts";
export {
  createInvitation,
  type CreateInvitationOptions,
  DEFAULT_INVITATION_SECONDS,
  type InvitationClaims,
  type InvitationHeader,
  invitationLink,
  type InvitationTerms,
  isInvitationLink,
  MAX_INVITATION_LENGTH,
  type ParsedInvitation,
  parseInvitation,
} from "./invitation/invitation.ts";
export * from "./keys.ts";
