/** Flags of the commands that append, and the members of drafts from them. @module */

import {
  JsonError,
  type OpenObject,
  parseJson,
  REASON_CODES,
  RELATIONSHIP_TYPES,
  SigError,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { FlagSpec } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";

/** The directory that a command works on. */
export const DIR_FLAG: FlagSpec = {
  name: "dir",
  value: "DIR",
  help: "the issuer's directory",
  required: true,
};

/** A relationship's type. */
export function typeFlag(help: string = RELATIONSHIP_TYPES.join(", ")) {
  return {
    name: "type",
    value: "TYPE",
    help,
    choices: RELATIONSHIP_TYPES,
    // As requirements have it: `relationship=employee`.
    mistaken: ["relationship", "relationship-type"],
  } satisfies FlagSpec;
}

/** Why a relationship ends. */
export const REASON_CODE_FLAG: FlagSpec = {
  name: "reason-code",
  value: "CODE",
  help: `why it ends: ${REASON_CODES.join(", ")}`,
  choices: REASON_CODES,
};

/** Since when it has ended. */
export const EFFECTIVE_AT_FLAG: FlagSpec = {
  name: "effective-at",
  value: "TIME",
  help: "since when, in the past (default: issued-at)",
};

/**
 * Validity and what is shown to people.
 *
 * @param none Whether `none` takes a value away.
 */
export function contentFlags(none: "or none" | "given"): readonly FlagSpec[] {
  const or = none === "or none" ? "|none" : "";
  return [
    { name: "valid-from", value: `TIME${or}`, help: "start, inclusive" },
    { name: "valid-until", value: `TIME${or}`, help: "end, exclusive" },
    { name: "title", value: `TEXT${or}`, help: "shown to people: job or role" },
    {
      name: "department",
      value: `TEXT${or}`,
      help: "shown to people: department or team",
    },
    { name: "label", value: `TEXT${or}`, help: "shown to people: anything" },
  ];
}

/** Flags of what signs, of every append. */
export const SIGNING_FLAGS: readonly FlagSpec[] = [
  {
    name: "kid",
    value: "KID",
    help: "the key that signs (default: the newest)",
  },
  {
    name: "key",
    value: "FILE",
    help: "private JWK to sign with, instead of the key store",
  },
  { name: "allow-warnings", help: "append even if readers will warn about it" },
  {
    name: "accept-rollback",
    help: "continue a feed that lost events; readers who saw them refuse it",
  },
  {
    name: "against",
    value: "SOURCE",
    help: "append nothing if the feed published there has more events",
  },
  {
    name: "allow-insecure",
    help: "allow http: and private addresses for --against (tests)",
  },
];

/** Flags of an event's own members. */
export const EVENT_FLAGS: readonly FlagSpec[] = [
  {
    name: "event-id",
    value: "ID",
    help: "safe to repeat (default: a new ULID)",
  },
  { name: "issued-at", value: "TIME", help: "RFC 3339 UTC (default: now)" },
  { name: "reason", value: "TEXT", help: "explanation for people" },
  {
    name: "metadata",
    value: "JSON",
    help: "JSON object with your own members",
  },
  {
    name: "visibility",
    value: "public|private",
    help: "who may read it (default: public)",
    choices: ["public", "private"],
  },
];

/** Flags of `upsert` and `revoke`. */
export const APPEND_FLAGS: readonly FlagSpec[] = [
  ...EVENT_FLAGS,
  ...SIGNING_FLAGS,
];

/** The members of a draft that both kinds have, as far as they are given. */
export function commonMembers(call: Call): OpenObject {
  return given({
    event_id: call.text("event-id"),
    issued_at: call.text("issued-at"),
    reason: call.text("reason"),
    metadata: metadata(call),
    visibility: call.text("visibility"),
  });
}

/** An object without its undefined members. */
export function given(members: OpenObject): OpenObject {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  );
}

function metadata(call: Call): OpenObject | undefined {
  const text = call.text("metadata");
  if (text === undefined) return undefined;
  let why = "it must be one object";
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    why = error.message;
  }
  throw new SigError(
    "invalid_json",
    `Cannot use --metadata: it must be strict JSON: ${why}`,
    {
      context: {
        flag: "--metadata",
        hint: `For example: --metadata '{"badge":7}'`,
      },
    },
  );
}
