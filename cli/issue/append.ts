/** What `upsert` and `revoke` share. @module */

import {
  isObject,
  JsonError,
  type OpenObject,
  parseJson,
  SigError,
} from "@sig/core";
import type { AppendedEvent } from "@sig/issuer";
import type { FlagSpec } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";
import {
  safe,
  warn,
  writeJson,
  writeWarnings,
} from "../command_line/output.ts";

/** Flags of what signs, of every append. */
export const SIGNING_FLAGS: readonly FlagSpec[] = [
  {
    name: "kid",
    value: "KID",
    help: "the key that signs; the newest unless told",
  },
  {
    name: "key",
    value: "FILE",
    help: "a private JWK, instead of the key store",
  },
  { name: "allow-warnings", help: "write even what readers will warn about" },
  {
    name: "accept-rollback",
    help: "go on after a feed that has lost events; who saw them refuses it",
  },
  {
    name: "against",
    value: "SOURCE",
    help: "append nothing if the feed published there has more",
  },
  {
    name: "allow-insecure",
    help: "allow http: and private addresses for --against, for tests",
  },
];

/** Flags of an event's own members. */
export const EVENT_FLAGS: readonly FlagSpec[] = [
  {
    name: "event-id",
    value: "ID",
    help: "a new ULID unless told; repeating an append with it is safe",
  },
  { name: "issued-at", value: "TIME", help: "RFC 3339 UTC; now unless told" },
  { name: "reason", value: "TEXT", help: "for people" },
  { name: "metadata", value: "JSON", help: "an object of your own members" },
  {
    name: "visibility",
    value: "public|private",
    help: "public unless told",
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

/**
 * Says what was appended, and what the operator may not have meant by it.
 *
 * @param about What the command has to add where JSON is wanted.
 */
export function reportAppended(
  call: Call,
  appended: AppendedEvent,
  notices: readonly string[],
  about: OpenObject = {},
): number {
  const { sequence, event_id, relationship_id, repeated, event } = appended;
  const { event_type } = event;
  writeWarnings(call, appended.warnings);
  if (repeated) {
    warn(
      call,
      `event ${event_id} was there already (seq=${sequence}); nothing was written`,
    );
  }
  if (call.format === "json") {
    writeJson(call.io, {
      event_type,
      event_id,
      relationship_id,
      sequence,
      repeated,
      ...about,
      ...(notices.length === 0 ? {} : { notices }),
    });
  } else {
    call.io.stdout(
      `Appended ${event_type} ${safe(relationship_id)} (seq=${sequence})\n`,
    );
  }
  return 0;
}
