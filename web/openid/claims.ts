/** Creates the claims about a person. @module */

import { nodeCrypto } from "../login/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";

/** The supported scopes. */
export const SCOPES: readonly string[] = Object.freeze([
  "openid",
  "profile",
  "groups",
  "offline_access",
]);

/** The names of all supported claims. */
export const CLAIMS: readonly string[] = Object.freeze([
  "sub",
  "iss",
  "aud",
  "exp",
  "iat",
  "auth_time",
  "nonce",
  "sid",
  "at_hash",
  "amr",
  "name",
  "preferred_username",
  "groups",
  "roles",
  "sig",
]);

/** Maximum length of `sub` in characters (OIDC Core §2). */
export const MAX_SUB_LENGTH = 255;

/** A person to create claims for. */
interface Described {
  /** The person's root DID (docs/protocol.md §4.1). */
  readonly subject: string;
  /** The relationship with the issuer. */
  readonly relationship: MatchedRelationship;
  /** The granted scopes. */
  readonly scope: readonly string[];
}

/** Returns the operator's name for a subject; undefined if there is none. */
export type NameOf = (subject: string) => string | undefined;

/**
 * The names of people; without a name, claims contain a digest of the subject.
 */
export interface Naming {
  /** Returns the display name. */
  readonly nameOf?: NameOf | undefined;
  /** Returns the user name, by which programs may identify people. */
  readonly usernameOf?: NameOf | undefined;
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

/**
 * Returns the type and roles of a relationship as groups. Roles with commas are
 * omitted, since some programs join groups with commas.
 */
export function groupsOf(
  { type, roles }: Pick<MatchedRelationship, "type" | "roles">,
): readonly string[] {
  const named = roles.filter((role) => !role.includes(","));
  return [type, ...named.map((role) => `role:${role}`)];
}

/** Returns the display name of a person, or a digest. */
export function shownNameOf(
  subject: string,
  nameOf: NameOf | undefined,
): string {
  return nameOf?.(subject) ?? shortNameOf(subject);
}

/**
 * Returns `u-` and 16 characters of a digest: stable, and shorter than a DID.
 */
function shortNameOf(subject: string): string {
  const hex = nodeCrypto().createHash("sha256").update(subject).digest("hex");
  return `u-${hex.slice(0, 16)}`;
}
