/** Reads the members of a JSON object and collects all faults. @module */

import { type Issue, SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";
import { escapePointer } from "../text/json.ts";
import { type Instant, parseTimestamp } from "../text/timestamp.ts";
import type { OpenObject } from "./types.ts";

// C0, DEL and C1 controls, with which a text could forge lines in logs and
// terminals.
// deno-lint-ignore no-control-regex -- matches control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Returns whether a value is a non-empty string without control characters. */
export function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !CONTROL.test(value) &&
    value.isWellFormed();
}

/** Maximum length of a key identifier in characters (docs/protocol.md §1). */
export const MAX_KID_LENGTH = 256;

/** Returns whether a value is a key identifier (`kid`). */
export function isKid(value: unknown): value is string {
  return isIdentifier(value) && value.length <= MAX_KID_LENGTH;
}

/** Returns a member; undefined if absent or inherited. */
export function member(object: OpenObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns whether a value is a JSON object (not null, not an array). */
export function isObject(value: unknown): value is OpenObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a string has the form of a DID (DID Core §3.1). */
export function isDid(value: string): boolean {
  return /^did:[a-z0-9]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._%-]$/.test(value);
}

/**
 * Reads the members of one object. A method that finds a fault collects it and
 * returns undefined, so that one pass finds all faults.
 */
export class Fields {
  /** The faults found so far. */
  readonly issues: Issue[] = [];
  readonly #object: OpenObject;
  readonly #base: string;

  /** Creates a reader of the object at a JSON Pointer (default: the root). */
  constructor(object: OpenObject, base = "") {
    this.#object = object;
    this.#base = base;
  }

  /** Adds a fault of a member. */
  report(name: string, code: ErrorCode, detail: string): undefined {
    const pointer = `${this.#base}/${escapePointer(name)}`;
    this.issues.push({ pointer, code, detail });
    return undefined;
  }

  /** Returns a member; undefined if absent or inherited. */
  get(name: string): unknown {
    return member(this.#object, name);
  }

  /** Returns a required member. An undefined one counts as absent. */
  required(name: string): unknown {
    const value = this.get(name);
    if (value !== undefined) return value;
    return this.report(name, "missing_field", "is required");
  }

  /** Returns a required member of a type. */
  member<T>(
    name: string,
    is: (value: unknown) => value is T,
    expected: string,
  ): T | undefined {
    const value = this.required(name);
    if (value === undefined || is(value)) return value;
    return this.report(name, "invalid_field", `must be ${expected}`);
  }

  /** Returns a required non-empty string without control characters. */
  identifier(name: string): string | undefined {
    return this.member(
      name,
      isIdentifier,
      "a non-empty string without control characters",
    );
  }

  /** Returns a required string of a list. */
  oneOf<T extends string>(name: string, list: readonly T[]): T | undefined {
    const value = this.required(name);
    if (value === undefined || list.includes(value as T)) return value as T;
    return this.report(
      name,
      "invalid_field",
      `must be one of ${list.join(", ")}`,
    );
  }

  /** Returns a required timestamp; null is allowed on request. */
  timestamp(name: string, nullable = false): Instant | null | undefined {
    const value = this.required(name);
    if (value === undefined) return undefined;
    if (value === null && nullable) return null;
    const instant = parseTimestamp(value);
    if (instant !== undefined) return instant;
    return this.report(
      name,
      "invalid_field",
      `must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z${
        nullable ? ", or null" : ""
      }`,
    );
  }

  /** Returns an optional member; null is absent (docs/protocol.md §3). */
  optional<T>(
    name: string,
    is: (value: unknown) => value is T,
    expected: string,
  ): T | undefined {
    const value = this.get(name);
    if (value === undefined || value === null || is(value)) {
      return value ?? undefined;
    }
    return this.report(name, "invalid_field", `must be ${expected}`);
  }
}

/** Returns whether a value is a string. */
export function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** Creates the error of some faults (default code: that of the first). */
export function issuesError(
  what: string,
  issues: readonly Issue[],
  code?: ErrorCode,
): SigError {
  const [first, ...more] = issues;
  if (first === undefined) throw new RangeError("Cannot report no issue");
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  const place = first.pointer === "" ? "" : `${first.pointer} `;
  return new SigError(
    code ?? first.code,
    {
      action: `accept ${what}`,
      reason: `${place}${first.detail}${others}`,
      context: {
        pointer: first.pointer,
        ...(more.length === 0 && !code ? {} : { errors: issues }),
      },
    },
  );
}
