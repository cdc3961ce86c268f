/** What an operator wants to be published of one relationship. @module */

import type { OpenObject, RelationshipType } from "@sig/core";

/**
 * One row of a list of people. A member that is absent is kept as it is
 * published; null, or an empty list of roles, means none.
 */
export interface DesiredRelationship {
  /** Who: a DID. */
  readonly subject: string;
  /** What kind of relationship. */
  readonly type: RelationshipType;
  /**
   * Which one. Absent: the one active relationship of this subject and type,
   * or a new one where none is active.
   */
  readonly relationship_id?: string | undefined;
  /** The roles; their order means nothing. */
  readonly roles?: readonly string[] | undefined;
  /** Start of validity (inclusive): RFC 3339 UTC, or null. */
  readonly valid_from?: string | null | undefined;
  /** End of validity (exclusive): RFC 3339 UTC, or null. */
  readonly valid_until?: string | null | undefined;
  /** Shown to people: job or role. */
  readonly title?: string | null | undefined;
  /** Shown to people: department or team. */
  readonly department?: string | null | undefined;
  /** Shown to people: anything. */
  readonly label?: string | null | undefined;
  /** The issuer's own members. */
  readonly metadata?: OpenObject | null | undefined;
  /** Its place in the list, counted as a spreadsheet does; for messages. */
  readonly row?: number | null | undefined;
}
