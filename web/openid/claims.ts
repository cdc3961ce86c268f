/** Creates the claims about a person. @module */

import type { MatchedRelationship } from "../login/relationship.ts";
import { groupsOf, type Naming, shortNameOf } from "../sign_in/person.ts";

/** The supported scopes. */
export const SCOPES: readonly string[] = Object.freeze([
  "openid",
  "profile",
  "groups",
  "offline_access",
]);

/** The names of all supported claims. */
export const CLAIMS: readonly string[] = Object.freeze([
  ...["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "sid"],
  ...["at_hash", "amr", "name", "preferred_username", "groups", "roles", "sig"],
]);

/** A person to create claims for. */
interface Described {
  /** The person's root DID (docs/protocol.md §4.1). */
  readonly subject: string;
  /** The relationship with the issuer. */
  readonly relationship: MatchedRelationship;
  /** The granted scopes. */
  readonly scope: readonly string[];
}

/**
 * Returns the claims about a person, which ID tokens and userinfo share. The
 * person can't choose any of them, since applications link accounts by claims;
 * that is also why there is no e-mail address.
 */
export function claimsOf(
  { subject, relationship, scope }: Described,
  names: Naming = {},
): Record<string, unknown> {
  const { issuer, relationship_id, type, roles, sequence } = relationship;
  const claims: Record<string, unknown> = { sub: subject, amr: ["pop"] };
  if (scope.includes("profile")) {
    const username = names.usernameOf?.(subject);
    const name = names.nameOf?.(subject);
    const short = username === undefined || name === undefined
      ? shortNameOf(subject)
      : undefined;
    claims.preferred_username = username ?? short;
    claims.name = name ?? short;
  }
  if (scope.includes("groups")) {
    claims.groups = groupsOf(relationship);
    claims.roles = roles;
    claims.sig = { issuer, relationship_id, type, roles, sequence };
  }
  return claims;
}
