/** Parsing of an event from its payload (docs/protocol.md §2, §3). @module */

import { type Issue, SigError } from "../errors/error.ts";
import {
  findEventIssues,
  isSequence,
  type ValidateEventOptions,
} from "./event.ts";
import { isObject } from "./fields.ts";
import {
  JsonError,
  type ParsedJson,
  parseJsonWithSpelling,
} from "../text/json.ts";
import { DEFAULT_LIMITS } from "../text/limits.ts";
import { quote } from "../text/escape_invisible.ts";
import type { SigEvent, UnknownEvent } from "./types.ts";
import { issuesError } from "./issues_error.ts";

/**
 * Parses an event from the signed bytes. Verify the signature first.
 *
 * @example
 * ```ts
 * import { isSigError, parseEventPayload } from "@sig/core";
 * import { assert, assertThrows } from "@std/assert";
 *
 * const payload = new TextEncoder().encode('{"sequence":1,"sequence":1}');
 * const error = assertThrows(() => parseEventPayload(payload));
 * assert(isSigError(error, "duplicate_json_member"));
 * ```
 *
 * @throws {SigError} `invalid_envelope` if it is not one strict JSON object,
 * `duplicate_json_member`, and the errors of `validateEvent`.
 */
export function parseEventPayload(
  payload: Uint8Array,
  options: ValidateEventOptions = {},
): SigEvent | UnknownEvent {
  const { value, decimals } = parsePayloadJson(payload);
  const issues = findEventIssues(value, options);
  // JSON.parse reads 1.0 and 1e0 as 1, but strict readers reject them as
  // integers.
  if (decimals.has("sequence")) {
    throw issuesError("event", withSpellingIssue(issues));
  }
  if (issues.length > 0) throw issuesError("event", issues);
  return value as SigEvent | UnknownEvent;
}

function withSpellingIssue(issues: readonly Issue[]): readonly Issue[] {
  if (issues.some((issue) => issue.pointer === "/sequence")) return issues;
  return [...issues, {
    pointer: "/sequence",
    code: "invalid_field",
    detail: "must be written in digits only",
  }];
}

function parsePayloadJson(payload: Uint8Array): ParsedJson {
  try {
    return parseJsonWithSpelling(payload, {
      maxDepth: DEFAULT_LIMITS.maxJsonDepth,
    });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const code = error.fault === "duplicate"
      ? "duplicate_json_member"
      : error.fault === "number" && error.inObject
      ? "invalid_field"
      : "invalid_envelope";
    const place = error.pointer === "" ? "" : `${quote(error.pointer)}: `;
    throw new SigError(code, {
      action: "read payload",
      reason: `${place}${error.message}`,
      context: { pointer: error.pointer },
    });
  }
}

/**
 * Returns the sequence that a payload claims, to report the place of a fault in
 * a line that may be forged; undefined if it can't be read.
 *
 * @example
 * ```ts
 * import { claimedSequence } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const payload = new TextEncoder().encode('{"sequence":7,"roles":0}');
 * assertEquals(claimedSequence(payload), 7);
 * ```
 */
export function claimedSequence(payload: Uint8Array): number | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(payload));
    const claimed = isObject(value) ? value.sequence : undefined;
    return isSequence(claimed) ? claimed : undefined;
  } catch {
    return undefined;
  }
}
