/** Reading members of parsed JSON without ever meeting a prototype. @module */

import type { OpenObject } from "@sig/core";
import { isIdentifier } from "@sig/core/internal";

/** Characters of a `kid` at most (docs/protocol.md §1). */
export const MAX_KID_LENGTH = 256;

/** An own member; undefined when absent or only inherited. */
export function member(object: OpenObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Whether a value can be a `kid`: 1–256 characters, none of them control. */
export function isKid(value: unknown): value is string {
  return isIdentifier(value) && value.length <= MAX_KID_LENGTH;
}
