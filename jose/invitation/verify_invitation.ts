/** Verification of invitations (docs/protocol.md §9). @module */

import { DEFAULT_LIMITS, instantOf, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  malformed,
  type ParsedInvitation,
  parseInvitation,
} from "./invitation.ts";
import { type KeyResolver, resolveCurrent } from "../keys/key_resolver.ts";

/** Options of {@linkcode verifyInvitation}. */
export interface VerifyInvitationOptions {
  /** The DID of the expected issuer, to which the keys belong. */
  readonly issuer: string;
  /** The keys that may sign the issuer's events. */
  readonly keys: KeyResolver;
  /** Returns the current time. */
  readonly now: () => Date;
  /** Tolerated difference between clocks in seconds (default: 60). */
  readonly clockSkewSeconds?: number;
}

/**
 * Verifies an invitation with the keys of its issuer, in the order of
 * docs/protocol.md §9: form, key, signature, time. Single use is enforced by
 * the feed. See `createInvitation` for an example.
 *
 * @throws {SigError} `invalid_invitation` (its form; another issuer's; its
 * `iat` is more than 60 s in the future), `key_not_found`, `key_not_authorized`,
 * `signature_invalid`, `invitation_expired`.
 */
export async function verifyInvitation(
  invitation: string | ParsedInvitation,
  options: VerifyInvitationOptions,
): Promise<ParsedInvitation> {
  const parsed = typeof invitation === "object"
    ? invitation
    : parseInvitation(invitation);
  const { claims, header: { kid }, signature, signingInput } = parsed;
  if (claims.iss !== options.issuer) {
    throw malformed(
      `it is one of ${quote(claims.iss)}, not of ${quote(options.issuer)}`,
      "/iss",
    );
  }
  const key = resolveCurrent(options.keys, kid);
  if (!await key.verify(signature, signingInput)) {
    throw new SigError("signature_invalid", {
      action: "accept invitation",
      reason: `its signature is not one of key ${quote(kid)}`,
      context: { kid },
    });
  }
  requireTime(parsed, options);
  return parsed;
}

/**
 * Requires that an invitation has not expired, for a reader that has no keys to
 * verify it.
 *
 * @throws {SigError} `invitation_expired`.
 */
export function requireUnexpired(
  { claims, expires_at }: ParsedInvitation,
  now: Date,
): void {
  if (instantOf(now).seconds < claims.exp) return;
  throw new SigError("invitation_expired", {
    action: "accept invitation",
    reason: `it expired at ${expires_at}`,
    context: { hint: "Ask for a new invitation." },
  });
}

function requireTime(
  parsed: ParsedInvitation,
  { now, clockSkewSeconds }: VerifyInvitationOptions,
): void {
  const instant = now();
  requireUnexpired(parsed, instant);
  const skew = clockSkewSeconds ?? DEFAULT_LIMITS.clockSkewSeconds;
  if (parsed.claims.iat <= instantOf(instant).seconds + skew) return;
  throw malformed(
    `its iat is more than ${skew} s in the future; one of the two clocks is wrong`,
    "/iat",
  );
}
