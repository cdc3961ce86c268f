/** How applications and proxies see a person. @module */

import { nodeCrypto } from "../store/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";

/** Maximum length of `sub` in characters (OIDC Core §2). */
export const MAX_SUB_LENGTH = 255;

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
 * Returns the type and roles of a relationship as groups. Roles with commas are
 * omitted, since some programs join groups with commas.
 */
export function groupsOf(
  { type, roles }: Pick<MatchedRelationship, "type" | "roles">,
): readonly string[] {
  const named = roles.filter((role) => !role.includes(","));
  return [type, ...named.map((role) => `role:${role}`)];
}

/**
 * Returns the operator's name of a person, or `u-` and 16 characters of a digest:
 * stable, and shorter than a DID.
 */
export function shownNameOf(
  subject: string,
  nameOf: NameOf | undefined,
): string {
  const name = nameOf?.(subject);
  if (name !== undefined) return name;
  const hex = nodeCrypto().createHash("sha256").update(subject).digest("hex");
  return `u-${hex.slice(0, 16)}`;
}
