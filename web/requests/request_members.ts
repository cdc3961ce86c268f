/** Reading the members of a request, strictly (INTERFACES §4). @module */

import {
  type ErrorCode,
  escapeInvisible,
  isObject,
  type Issue,
  SigError,
} from "@sig/core";
import { suggest } from "@sig/api/flags";

/** RFC 6749 §3.3: printable ASCII without space, quote and backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Scopes of a challenge at most (PROTOCOL §7). */
const MAX_SCOPES = 32;

/**
 * Characters of a scope at most: 32 of them fit in an attestation, and 100,000
 * challenges in memory.
 */
const MAX_SCOPE_LENGTH = 128;

/** Faults that are named at most; more of them help nobody. */
const MAX_ISSUES = 20;

/** Characters of an unknown name that are told. */
const MAX_NAME_LENGTH = 80;

/** Reads one request; notes what is wrong and names all of it at the end. */
export class RequestMembers {
  readonly #action: string;
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #issues: Issue[] = [];
  #hint: string | undefined;

  /**
   * A member that is not known is a fault: a misspelt `subject` must not make
   * a challenge that anybody may answer.
   */
  constructor(action: string, input: unknown, known: readonly string[]) {
    this.#action = action;
    this.#object = isObject(input) ? input : {};
    if (!isObject(input)) {
      this.#report("", "invalid_field", "the request must be one JSON object");
    }
    for (const name of Object.keys(this.#object)) {
      if (known.includes(name)) continue;
      const near = suggest(name, known);
      this.#hint ??= near && `Did you mean ${near}?`;
      const detail = near ? `is unknown; did you mean ${near}?` : "is unknown";
      this.#report(pointerTo(name), "invalid_field", detail);
    }
  }

  /** An optional string of at most so many characters. */
  text(name: string, maxLength = Infinity): string | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") {
      return this.#report(`/${name}`, "invalid_field", "must be a string");
    }
    if (value.length <= maxLength) return value;
    const detail = `must have at most ${maxLength} characters`;
    return this.#report(`/${name}`, "invalid_field", detail);
  }

  /** A required string; empty when it is missing or wrong. */
  requiredText(name: string): string {
    if (this.#get(name) !== undefined) return this.text(name) ?? "";
    this.#report(`/${name}`, "missing_field", "is required");
    return "";
  }

  /** An optional whole number within a range. */
  integer(name: string, min: number, max: number): number | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (Number.isInteger(value)) {
      const number = value as number;
      if (number >= min && number <= max) return number;
    }
    const detail = `must be a whole number from ${min} to ${max}`;
    return this.#report(`/${name}`, "invalid_field", detail);
  }

  /** Optional scope tokens, each once; returned sorted. */
  scopes(name: string): readonly string[] {
    const value = this.#get(name);
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length > MAX_SCOPES) {
      const detail = `must be an array of at most ${MAX_SCOPES} scope tokens`;
      this.#report(`/${name}`, "invalid_field", detail);
      return [];
    }
    const seen = new Set<string>();
    for (const [i, scope] of value.entries()) {
      const fault = findScopeFault(scope, seen);
      if (fault !== undefined) {
        this.#report(`/${name}/${i}`, "invalid_field", fault);
      }
      seen.add(scope);
    }
    return [...seen].sort();
  }

  /**
   * Ends the reading.
   *
   * @throws {SigError} `invalid_request` with all faults in `context.errors`.
   */
  finish(): void {
    const [first] = this.#issues;
    if (first === undefined) return;
    // The pointer may hold a name that somebody else chose.
    const place = first.pointer === ""
      ? ""
      : `${escapeInvisible(first.pointer)} `;
    const more = this.#issues.length - 1;
    throw new SigError(
      "invalid_request",
      `Cannot ${this.#action}: ${place}${first.detail}${
        more === 0 ? "" : ` (and ${more} more)`
      }`,
      {
        context: {
          errors: this.#issues,
          ...(this.#hint === undefined ? {} : { hint: this.#hint }),
        },
      },
    );
  }

  #get(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? this.#object[name] : undefined;
  }

  #report(pointer: string, code: ErrorCode, detail: string): undefined {
    if (this.#issues.length < MAX_ISSUES) {
      this.#issues.push({ pointer, code, detail });
    }
    return undefined;
  }
}

function findScopeFault(
  scope: unknown,
  seen: ReadonlySet<string>,
): string | undefined {
  if (typeof scope !== "string" || !SCOPE_TOKEN.test(scope)) {
    return "must be a scope token: printable ASCII without space, quote and backslash";
  }
  if (scope.length > MAX_SCOPE_LENGTH) {
    return `must have at most ${MAX_SCOPE_LENGTH} characters`;
  }
  return seen.has(scope) ? "must not stand twice" : undefined;
}

/** RFC 6901, of a name that somebody else chose. */
function pointerTo(name: string): string {
  const short = name.slice(0, MAX_NAME_LENGTH).toWellFormed();
  return `/${short.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
