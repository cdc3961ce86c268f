/** The text that a person reads before agreeing. @module */

import { escapeInvisible } from "@sig/core";

/** What the text is made of: the members of a challenge but the text. */
export interface DescribedChallenge {
  /** Comes back as `jti`. */
  readonly challenge_id: string;
  /** The origin or DID that asks. */
  readonly audience: string;
  /** What makes the answer fit this challenge only. */
  readonly nonce: string;
  /** What may be granted, in the order in which it is shown. */
  readonly scopes: readonly string[];
  /** The only DID that may answer, or null for anyone. */
  readonly subject: string | null;
  /** What the subject's relationship must meet, or null for nothing. */
  readonly require: readonly string[] | null;
  /** RFC 3339 UTC, as it was sent. */
  readonly issued_at: string;
  /** RFC 3339 UTC, as it was sent. */
  readonly expires_at: string;
}

/**
 * The challenge in words, in the shape of ERC-4361 ("Sign-In with …"). What is
 * signed is not this text but the attestation, which names the same values: so
 * whoever shows a text makes it with this, and `signAttestation` refuses a
 * challenge whose `message` is another. (docs/protocol.md §7)
 *
 * Every value stays on its own line: line breaks and marks that hide or reorder
 * text are shown as `\uXXXX`, so that no value can pose as another line.
 *
 * @example
 * ```ts
 * import { describeChallenge } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const message = describeChallenge({
 *   challenge_id: "c-1",
 *   audience: "https://shop.example",
 *   nonce: "n-1",
 *   scopes: ["profile"],
 *   subject: null,
 *   require: null,
 *   issued_at: "2026-01-31T09:00:00Z",
 *   expires_at: "2026-01-31T09:05:00Z",
 * });
 * assertEquals(message.split("\n").slice(0, 4), [
 *   "https://shop.example wants you to sign in with your key:",
 *   "any did:key or did:web of yours",
 *   "",
 *   "You grant: profile",
 * ]);
 * ```
 */
export function describeChallenge(challenge: DescribedChallenge): string {
  const { scopes, require } = challenge;
  const lines = [
    `${challenge.audience} wants you to sign in with your key:`,
    challenge.subject ?? "any did:key or did:web of yours",
    "",
    `You grant: ${scopes.length === 0 ? "nothing more" : scopes.join(" ")}`,
    ...(require === null ? [] : [`You must have: ${require.join(", ")}`]),
    "Agree only if you are on this site and started this yourself.",
    "",
    `URI: ${challenge.audience}`,
    "Version: 1",
    `Nonce: ${challenge.nonce}`,
    `Issued At: ${challenge.issued_at}`,
    `Expiration Time: ${challenge.expires_at}`,
    `Request ID: ${challenge.challenge_id}`,
  ];
  return lines.map(escapeInvisible).join("\n");
}
