/** Signs attestations as a subject (docs/protocol.md §7, §9). @module */

import {
  ATTESTATION_TYP,
  type ErrorCode,
  parseDidWeb,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  type AttestationClaims,
  MAX_ATTESTATION_LENGTH,
} from "./attestation.ts";
import { jwkToDidKey } from "../keys/did_key.ts";
import { signCompactJws } from "../event/jws.ts";
import type { SigningKey } from "../keys/signing_key.ts";

/** The signer of an attestation. */
interface SignAsOptions {
  /** The subject's key. */
  readonly key: SigningKey;
  /** The subject: a did:web, or the key's did:key (default). */
  readonly subject?: string;
}

/** Creates the error of a refusal to sign an attestation. */
export function refuseToSign(
  code: ErrorCode,
  why: string,
  hint?: string,
): SigError {
  return new SigError(code, {
    action: "sign attestation",
    reason: why,
    context: hint === undefined ? {} : { hint },
  });
}

/**
 * Returns the subject's DID and the kid of its key there.
 *
 * @param asked The only DID that may answer; undefined for anyone.
 * @throws {SigError} `subject_mismatch`, `unsupported_did_method`,
 * `invalid_identifier`.
 */
export function chooseSubject(
  { subject, key }: SignAsOptions,
  asked?: string,
): { readonly did: string; readonly kid: string } {
  const didKey = jwkToDidKey(key.publicJwk);
  const did = subject ?? didKey;
  if (asked !== undefined && asked !== did) {
    throw refuseToSign(
      "subject_mismatch",
      `the challenge is for ${quote(asked)}, not ${quote(did)}`,
      "Name it as the subject (sig attest --subject) if it is yours and this site may know.",
    );
  }
  if (did === didKey) {
    return { did, kid: `${did}#${did.slice("did:key:".length)}` };
  }
  if (did.startsWith("did:key:")) {
    throw refuseToSign(
      "subject_mismatch",
      `${quote(did)} is another key than ${quote(didKey)}`,
    );
  }
  if (!did.startsWith("did:web:")) {
    throw refuseToSign(
      "unsupported_did_method",
      `${quote(did)} is neither a did:key nor a did:web`,
    );
  }
  // Only the form is checked; the verifier decides whether a private host is
  // allowed.
  parseDidWeb(did, { allowPrivate: true });
  return { did, kid: `${did}#${key.kid}` };
}

/**
 * Signs claims as a compact JWS.
 *
 * @throws {SigError} `invalid_attestation` when it would be longer than 8 KiB.
 */
export async function signClaims(
  claims: AttestationClaims,
  kid: string,
  key: SigningKey,
): Promise<string> {
  const header = { alg: "EdDSA", typ: ATTESTATION_TYP, kid };
  const jwt = await signCompactJws(header, claims, key);
  if (jwt.length <= MAX_ATTESTATION_LENGTH) return jwt;
  throw refuseToSign(
    "invalid_attestation",
    `it would be longer than ${MAX_ATTESTATION_LENGTH} characters`,
  );
}
