/** Flags of a relationship, for all commands that name one. @module */

import { REASON_CODES, RELATIONSHIP_TYPES } from "@sig/core";
import type { FlagSpec } from "@sig/api/flags";

/** The directory that a command works on. */
export const REQUIRED_DIR_FLAG: FlagSpec = {
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
  help: "since when, in the past; issued-at unless told",
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
