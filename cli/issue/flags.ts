/**
 * Flags of the commands that append, and the draft members that they set.
 *
 * @module
 */

import { type OpenObject, REASON_CODES, RELATIONSHIP_TYPES } from "@sig/core";
import {
  folder,
  oneOf,
  optional,
  required,
  text,
  toggle,
  type Values,
  type ValueType,
} from "@sig/api/program";
import {
  dayOf,
  id,
  kid,
  metadata,
  reasonCode,
  relationshipType,
  signingKey,
  source,
  textOf,
  time,
} from "../command_line/values.ts";

/** `--dir`, the issuer's directory. */
export const DIR_FLAG = { dir: required(folder, "the issuer's directory") };

/** `--type` of a new relationship. */
export const TYPE_FLAG = {
  type: required(relationshipType, RELATIONSHIP_TYPES.join(", ")),
};

/** Returns a `--type` flag that selects relationships. */
export function typeFlag(help: string) {
  return { type: optional(relationshipType, help) };
}

const REASON_CODE_HELP = `why it ends: ${REASON_CODES.join(", ")}`;

/** The reason and the time of an ending. */
export const ENDING_FLAGS = {
  "reason-code": required(reasonCode, REASON_CODE_HELP),
  "effective-at": optional(
    time,
    "since when, in the past (default: issued-at)",
  ),
};

/**
 * The optional reason of an ending, for commands that may end no relationship.
 */
export const REASON_CODE_FLAG = {
  "reason-code": optional(reasonCode, REASON_CODE_HELP),
};

/**
 * Returns the flags for validity dates and display fields.
 *
 * @param of Wraps the type of each value, such as `orNone`.
 */
export function contentFlags<T>(of: (type: ValueType<string>) => ValueType<T>) {
  return {
    "valid-from": optional(of(dayOf("valid_from")), "start, inclusive"),
    "valid-until": optional(of(dayOf("valid_until")), "end, exclusive"),
    title: optional(of(text), "shown to people: job or role"),
    department: optional(of(text), "shown to people: department or team"),
    label: optional(of(text), "shown to people: anything"),
  };
}

/** Flags that select the signing key. */
export const KEY_FLAGS = {
  kid: optional(kid, "the key that signs (default: the newest)"),
  key: optional(
    signingKey,
    "private JWK, or key in ssh-agent, to sign with instead of the key store",
  ),
};

/** Flags that every command that appends has. */
export const SIGNING_FLAGS = {
  ...KEY_FLAGS,
  "allow-warnings": toggle("append even if readers will warn about it"),
  "accept-rollback": toggle(
    "continue a feed that lost events; readers who saw them refuse it",
  ),
  against: optional(
    source,
    "append nothing if the feed published there has more events",
  ),
  "allow-insecure": toggle(
    "allow http: and private addresses for --against (tests)",
  ),
};

/** Flags that open an issuer's directory. Not every command has all of them. */
export type IssuerValues =
  & Values<typeof DIR_FLAG>
  & Partial<Values<typeof SIGNING_FLAGS>>;

/** Flags for members of the event itself, which `sig set` also has. */
export const MEMBER_FLAGS = {
  "event-id": optional(id, "safe to repeat (default: a new ULID)"),
  "issued-at": optional(textOf("TIME"), "RFC 3339 UTC (default: now)"),
  reason: optional(text, "explanation for people"),
  metadata: optional(metadata, "JSON object with your own members"),
};

/** Flags of `upsert` and `revoke`. */
export const APPEND_FLAGS = {
  ...MEMBER_FLAGS,
  visibility: optional(
    oneOf("public", "private"),
    "public or private events (default: public)",
  ),
  ...SIGNING_FLAGS,
};

/** Returns the given draft members that upserts and revokes share. */
export function commonMembers(
  flags: Partial<Values<typeof APPEND_FLAGS>>,
): OpenObject {
  const { "event-id": event_id, "issued-at": issued_at } = flags;
  const { reason, metadata, visibility } = flags;
  return given({ event_id, issued_at, reason, metadata, visibility });
}

/** Returns the object without its undefined members. */
export function given(members: OpenObject): OpenObject {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  );
}
