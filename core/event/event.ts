/** Parsing and validation of events (docs/protocol.md §2, §3). @module */

import { type Issue, SigError } from "../errors/error.ts";
import { Fields, isDid, isObject, isString, issuesError } from "./fields.ts";
import { DEFAULT_LIMITS, type Limits } from "../text/limits.ts";
import { compareInstants } from "../text/timestamp.ts";
import {
  REASON_CODES,
  RELATIONSHIP_TYPES,
  type RelationshipRevokeEvent,
  type RelationshipUpsertEvent,
  type SigEvent,
  SPEC_VERSION,
  type UnknownEvent,
  type Warning,
  type WarningCode,
} from "./types.ts";
import {
  JsonError,
  type ParsedJson,
  parseJsonWithSpelling,
} from "../text/json.ts";
import { quote } from "../text/escape_invisible.ts";

/** Options of {@linkcode validateEvent}. */
export interface ValidateEventOptions {
  /** Whether to reject private events (default: false). */
  readonly publicOnly?: boolean;
  /**
   * `ignore` accepts event types that v0.1 does not define (default: `reject`).
   */
  readonly unknownEvents?: "ignore" | "reject";
}

/**
 * Validates an event's members, and reports all faults with their paths.
 *
 * @example List all faults of an event
 * ```ts
 * import { isSigError, validateEvent } from "@sig/core";
 * import { assert, assertEquals, assertThrows } from "@std/assert";
 *
 * const error = assertThrows(() => validateEvent({ spec_version: "sig/0.1" }));
 * assert(isSigError(error, "missing_field"));
 * assertEquals(error.context.pointer, "/event_id");
 * ```
 *
 * @throws {SigError} with the first fault's code: `missing_field`,
 * `invalid_field`, `unsupported_spec_version`, `unknown_event_type`,
 * `status_not_active`, `revoke_target_mismatch`,
 * `private_event_in_public_feed`, or `invalid_envelope` for anything but an
 * object; `context.errors` holds all of them when there are several.
 */
export function validateEvent(
  value: unknown,
  options?: ValidateEventOptions,
): SigEvent {
  const issues = findEventIssues(value, options);
  if (issues.length > 0) throw issuesError("event", issues);
  return value as SigEvent;
}

/** Returns the faults of an event's members, in the order of the tables. */
export function findEventIssues(
  value: unknown,
  options: ValidateEventOptions = {},
): readonly Issue[] {
  if (!isObject(value)) {
    return [{
      pointer: "",
      code: "invalid_envelope",
      detail: "the payload must be one JSON object",
    }];
  }
  const fields = new Fields(value);
  if (!validateSpecVersion(fields)) return fields.issues;
  validateCommon(fields, options);
  const type = fields.get("event_type");
  if (type === "relationship.upsert") validateUpsert(fields);
  else if (type === "relationship.revoke") validateRevoke(fields);
  return fields.issues;
}

/**
 * Validates the version. The other members have no meaning under another
 * version, so they are not validated then.
 */
function validateSpecVersion(fields: Fields): boolean {
  const version = fields.member("spec_version", isString, SPEC_VERSION);
  if (version === undefined || version === SPEC_VERSION) return true;
  fields.report(
    "spec_version",
    "unsupported_spec_version",
    `must be ${SPEC_VERSION}`,
  );
  return false;
}

function validateCommon(fields: Fields, options: ValidateEventOptions): void {
  fields.identifier("event_id");
  validateEventType(fields, options);
  fields.identifier("issuer");
  fields.timestamp("issued_at");
  fields.member(
    "sequence",
    isSequence,
    "an integer from 1 to 2^53-1, written in digits only",
  );
  fields.identifier("relationship_id");
  fields.identifier("subject");
  const visibility = fields.oneOf("visibility", ["public", "private"]);
  if (visibility === "private" && options.publicOnly) {
    fields.report(
      "visibility",
      "private_event_in_public_feed",
      "must be public in a feed that is public_only",
    );
  }
  fields.optional("reason", isString, "a string");
  fields.optional("metadata", isObject, "an object");
}

/** Returns whether a value is a sequence: an integer from 1 to 2^53-1. */
export function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function validateEventType(
  fields: Fields,
  options: ValidateEventOptions,
): void {
  const expected = "relationship.upsert or relationship.revoke";
  const type = fields.member("event_type", isString, expected);
  if (type === "relationship.upsert" || type === "relationship.revoke") return;
  if (type === undefined || options.unknownEvents === "ignore") return;
  fields.report("event_type", "unknown_event_type", `must be ${expected}`);
}

function validateUpsert(fields: Fields): void {
  fields.oneOf("relationship_type", RELATIONSHIP_TYPES);
  const status = fields.required("status");
  if (status !== undefined && status !== "active") {
    const code = isString(status) ? "status_not_active" : "invalid_field";
    fields.report("status", code, "must be active");
  }
  fields.member("roles", isStrings, "an array of strings");
  const from = fields.timestamp("valid_from", true);
  const until = fields.timestamp("valid_until", true);
  if (from && until && compareInstants(until, from) <= 0) {
    fields.report("valid_until", "invalid_field", "must be after valid_from");
  }
  const display = fields.optional("display", isObject, "an object");
  if (display === undefined) return;
  const shown = new Fields(display, "/display");
  for (const name of ["title", "department", "label"]) {
    shown.optional(name, isString, "a string");
  }
  fields.issues.push(...shown.issues);
}

function validateRevoke(fields: Fields): void {
  const target = fields.member(
    "revokes_relationship_id",
    isString,
    "a string that equals relationship_id",
  );
  if (target !== undefined && target !== fields.get("relationship_id")) {
    fields.report(
      "revokes_relationship_id",
      "revoke_target_mismatch",
      "must equal relationship_id",
    );
  }
  fields.oneOf("reason_code", REASON_CODES);
  fields.timestamp("effective_at");
}

function isStrings(value: unknown): value is readonly string[] {
  // Spread, because `every` skips the holes of a sparse array.
  return Array.isArray(value) && [...value].every(isString);
}

/** A warning about one member of an event. */
interface FieldWarning extends Warning {
  /** JSON Pointer to the member. */
  readonly pointer: string;
}

/**
 * Returns warnings about a valid event. Our issuer refuses to write such an
 * event; a reader only warns, because a published feed can't be changed
 * (docs/protocol.md §3, §8).
 */
export function findEventWarnings(
  event: SigEvent | UnknownEvent,
  limits: Limits,
): FieldWarning[] {
  const found: FieldWarning[] = [];
  const warn = (code: WarningCode, name: string, detail: string) =>
    found.push({
      code,
      detail: `${name} ${detail}`,
      sequence: event.sequence,
      pointer: `/${name}`,
    });
  const over = (name: string, limit: number, unit: string) =>
    warn("field_over_limit", name, `is over the limit of ${limit} ${unit}`);

  const longest = limits.maxIdentifierLength;
  for (
    const name of ["event_id", "issuer", "relationship_id", "subject"] as const
  ) {
    if (event[name].length > longest) over(name, longest, "characters");
  }
  if (!isDid(event.subject)) warn("subject_not_did", "subject", "is not a DID");
  if ((event.reason?.length ?? 0) > limits.maxReasonLength) {
    over("reason", limits.maxReasonLength, "characters");
  }
  if (event.metadata) {
    const bytes = new TextEncoder().encode(JSON.stringify(event.metadata));
    const most = limits.maxEventMetadataBytes;
    if (bytes.length > most) over("metadata", most, "bytes");
  }
  if (isUpsert(event)) {
    if (event.roles.length > limits.maxRoles) {
      over("roles", limits.maxRoles, "roles");
    }
    if (event.roles.some((role) => role.length > limits.maxRoleLength)) {
      over("roles", limits.maxRoleLength, "characters a role");
    }
  }
  return found;
}

/** Returns whether an event is an upsert of v0.1. */
export function isUpsert(
  event: SigEvent | UnknownEvent,
): event is RelationshipUpsertEvent {
  return event.event_type === "relationship.upsert";
}

/** Returns whether an event is a revoke of v0.1. */
export function isRevoke(
  event: SigEvent | UnknownEvent,
): event is RelationshipRevokeEvent {
  return event.event_type === "relationship.revoke";
}

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
