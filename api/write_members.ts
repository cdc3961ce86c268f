/** Relationships of a page as JSON, of a bounded length. @module */

import type { RelationshipState } from "@sig/core";

/** Members of a JSON object as texts. */
export interface WrittenMembers {
  /** One text a member, without the commas between them. */
  readonly texts: readonly string[];
  /** The entry behind the last one that was written. */
  readonly end: number;
}

/** Characters of a page's relationships, unless one alone has more. */
export const MAX_PAGE_LENGTH: number = 4 * 1024 * 1024;

/**
 * Writes entries as members of an object: from one on, up to another or until
 * the next would exceed the length, but one in any case. Relationships may have
 * many roles: without it a page of 10,000 could have 80 MB.
 */
export function writeMembers(
  entries: readonly (readonly [string, RelationshipState])[],
  from: number,
  to: number,
  maxLength: number = MAX_PAGE_LENGTH,
): WrittenMembers {
  const texts: string[] = [];
  let length = 0;
  for (const [id, state] of entries.slice(from, to)) {
    const text = `${JSON.stringify(id)}:${JSON.stringify(state)}`;
    length += text.length;
    if (length > maxLength && texts.length > 0) break;
    texts.push(text);
  }
  return { texts, end: from + texts.length };
}
