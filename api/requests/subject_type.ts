/** Of whom a feed can speak, in AuthZEN's words (docs/reference/http.md). @module */

import { quote } from "@sig/core/internal";

/**
 * The types of AuthZEN subjects whose ids are subjects of SIG. AuthZEN scopes an
 * id to its type (§4.1), and SIG's subjects are of one kind: a `group` of the
 * same id is somebody else, whom no feed knows.
 */
export const SUBJECT_TYPES: readonly string[] = Object.freeze(["user", "did"]);

/** The beginning of every DID (W3C DID Core §3.1). */
const DID = /^did:[a-z0-9]+:./;

/**
 * Says why no feed can speak of a subject; `undefined`: one can.
 *
 * @example
 * ```ts
 * import { findForeignSubject } from "./subject_type.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const id = "did:web:alice.example";
 * assertEquals(findForeignSubject({ type: "user", id }), undefined);
 * assertEquals(
 *   findForeignSubject({ type: "group", id }),
 *   'no feed speaks of subjects of type "group", only of user and did',
 * );
 * ```
 */
export function findForeignSubject(
  { type, id }: { readonly type: string; readonly id: string },
): string | undefined {
  if (!SUBJECT_TYPES.includes(type)) {
    return `no feed speaks of subjects of type ${quote(type)}, only of ${
      SUBJECT_TYPES.join(" and ")
    }`;
  }
  return type === "did" && !DID.test(id)
    ? 'no feed speaks of it: an id of type "did" must be a DID'
    : undefined;
}
