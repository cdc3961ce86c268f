/** Reads own members of parsed JSON, never inherited ones. @module */

import type { OpenObject } from "@sig/core";
import { isIdentifier } from "@sig/core/internal";

/** Maximum length of a `kid` in characters (docs/protocol.md §1). */
export const MAX_KID_LENGTH = 256;

/** Returns an own member; undefined if absent or inherited. */
export function member(object: OpenObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Returns whether a value is a valid `kid`: 1 to 256 characters without control
 * characters.
 */
export function isKid(value: unknown): value is string {
  return isIdentifier(value) && value.length <= MAX_KID_LENGTH;
}
