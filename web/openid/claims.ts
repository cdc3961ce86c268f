/** Claims about a person. @module */

import { nodeCrypto } from "../login/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";

/** Every scope that means something. */
export const SCOPES: readonly string[] = Object.freeze([
  ...["openid", "profile", "groups", "offline_access"],
]);

/** The names of all claims. */
export const CLAIMS: readonly string[] = Object.freeze([
  ...[
    "sub",
    "iss",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "sid",
    "at_hash",
  ],
  ...["amr", "name", "preferred_username", "groups", "roles", "sig"],
]);

/** Characters of `sub` at most (OIDC Core §2). */
export const MAX_SUB_LENGTH = 255;

/** Somebody of whom claims are made. */
interface Described {
  /** The person's root (docs/protocol.md §4.1). */
  readonly subject: string;
  /** What the issuer says of them. */
  readonly relationship: MatchedRelationship;
  /** What was granted. */
  readonly scope: readonly string[];
}

/** What the operator calls people; undefined for who has no name. */
export type NameOf = (subject: string) => string | undefined;

/** People's display names; a digest of the subject where there is none. */
export interface Naming {
  /** For people to read. */
  readonly nameOf?: NameOf | undefined;
  /** For programs, which may tell people apart by it. */
  readonly usernameOf?: NameOf | undefined;
}

/**
 * The claims beside those of the protocol, in ID tokens and userinfo alike. None
 * is chosen by the person: applications link accounts by them, so there is no
 * e-mail address either.
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
 * What somebody is, as groups. Some programs join them with commas: a role that
 * has one is left out.
 */
export function groupsOf(
  { type, roles }: Pick<MatchedRelationship, "type" | "roles">,
): readonly string[] {
  const named = roles.filter((role) => !role.includes(","));
  return [type, ...named.map((role) => `role:${role}`)];
}

/** What people are shown of somebody. */
export function shownNameOf(
  subject: string,
  nameOf: NameOf | undefined,
): string {
  return nameOf?.(subject) ?? shortNameOf(subject);
}

/** `u-` and 16 characters of a digest: stable, and no DID in a list of users. */
function shortNameOf(subject: string): string {
  const hex = nodeCrypto().createHash("sha256").update(subject).digest("hex");
  return `u-${hex.slice(0, 16)}`;
}
