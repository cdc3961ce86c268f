import { type OpenObject, RELATIONSHIP_TYPES } from "@sig/core";
import type { EventDraft } from "@sig/issuer";
import { openForAppend } from "../ask/open_for_append.ts";
import { warn } from "../command_line/output.ts";
import { requireAgreement } from "../issue/agreement.ts";
import {
  consequencesOf,
  doubtsAbout,
  MOST_NAMED,
} from "../issue/upsert_notices.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  given,
  PEER_FLAGS,
  reportAppended,
} from "../issue/append.ts";
import {
  contentFlags,
  DIR_FLAG,
  typeFlag,
} from "../issue/relationship_flags.ts";
import { readValidity } from "../people/read_validity.ts";
import type { Call, Command } from "../command_line/command.ts";
import { usageError } from "@sig/api/flags";

/** `sig upsert` */
export const upsert: Command = {
  name: "upsert",
  aliases: ["append-upsert"],
  summary: "add a relationship, or replace it",
  description:
    "Appends one signed event. Everything not given is generated. The private\nkey comes from the key store, --key, or SIG_KEY_FILE. A bare date is the start\nof that day in --valid-from and its end in --valid-until, UTC.",
  flags: [
    DIR_FLAG,
    { name: "subject", value: "DID", help: "who it is about", required: true },
    typeFlag(),
    { name: "role", value: "ROLE", help: "a role", repeat: true },
    {
      name: "relationship-id",
      value: "ID",
      help: "an existing one is replaced; new unless told",
    },
    ...contentFlags("given"),
    ...APPEND_FLAGS,
  ],
  peerFlags: [
    ...PEER_FLAGS,
    {
      name: "relationship-type",
      value: "TYPE",
      help: "as --type",
      choices: RELATIONSHIP_TYPES,
    },
    { name: "roles", value: "A,B", help: "roles, with commas between" },
  ],
  examples: [
    "sig upsert --dir acme.example --subject did:web:alice.example --type employee --role deploy --role review",
    "sig upsert --dir acme.example --subject did:web:bob.example --type contractor --valid-until 2026-12-31",
  ],
  async run(call) {
    const draft: OpenObject = {
      event_type: "relationship.upsert",
      subject: call.text("subject"),
      relationship_type: relationshipType(call),
      ...given({
        roles: roles(call),
        relationship_id: call.text("relationship-id"),
        valid_from: readValidity(call, "valid_from"),
        valid_until: readValidity(call, "valid_until"),
        display: display(call),
      }),
      ...commonMembers(call),
    };
    await using issuer = await openForAppend(call);
    const { relationships } = await issuer.current({
      relationship_id: call.text("relationship-id"),
      subject: call.text("subject"),
      most: MOST_NAMED,
    });
    const doubts = doubtsAbout(draft, relationships, call.io.now());
    await requireAgreement(call, doubts);
    // The issuer judges every member: flags are only text.
    const appended = await issuer.append(draft as unknown as EventDraft);
    const consequences = appended.repeated
      ? []
      : consequencesOf(draft, relationships, call.io.now());
    for (const each of consequences) warn(call, each);
    return reportAppended(call, appended, [...doubts, ...consequences]);
  },
};

function relationshipType(call: Call): string {
  const type = call.text("type");
  const peer = call.text("relationship-type");
  if (type !== undefined && peer !== undefined) {
    throw usageError("--type and --relationship-type mean the same", {
      flag: "--relationship-type",
    });
  }
  const found = type ?? peer;
  if (found !== undefined) return found;
  throw usageError("--type is required", {
    flag: "--type",
    hint: `One of ${RELATIONSHIP_TYPES.join(", ")}.`,
  });
}

function roles(call: Call): readonly string[] | undefined {
  const listed = call.text("roles")?.split(",").map((role) => role.trim())
    .filter((role) => role !== "") ?? [];
  const all = [...call.texts("role"), ...listed];
  return all.length === 0 ? undefined : all;
}

function display(call: Call) {
  const shown = given({
    title: call.text("title"),
    department: call.text("department"),
    label: call.text("label"),
  });
  return Object.keys(shown).length === 0 ? undefined : shown;
}
