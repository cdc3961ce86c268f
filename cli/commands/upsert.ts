import type { OpenObject } from "@sig/core";
import type { EventDraft } from "@sig/issuer";
import { openForAppend } from "../ask/open_for_append.ts";
import { warn } from "../command_line/output.ts";
import { requireAgreement } from "../issue/agreement.ts";
import {
  consequencesOf,
  doubtsAbout,
  MOST_NAMED,
  namesIn,
  RECENT_BYTES,
} from "../issue/change_notices.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  given,
  reportAppended,
} from "../issue/append.ts";
import {
  contentFlags,
  REQUIRED_DIR_FLAG,
  typeFlag,
} from "../issue/relationship_flags.ts";
import { readValidity } from "../people/read_validity.ts";
import type { Call, Command } from "../command_line/command.ts";

/** `sig upsert` */
export const upsert: Command = {
  name: "upsert",
  summary: "add a relationship, or replace it",
  description:
    "Appends one signed event. Everything not given is generated. The private\nkey comes from the key store, --key, or SIG_KEY_FILE. A bare date is the start\nof that day in --valid-from and its end in --valid-until, UTC.",
  flags: [
    REQUIRED_DIR_FLAG,
    { name: "subject", value: "DID", help: "who it is about", required: true },
    { ...typeFlag(), required: true },
    { name: "role", value: "ROLE", help: "a role", repeat: true },
    {
      name: "relationship-id",
      value: "ID",
      help: "an existing one is replaced; new unless told",
    },
    ...contentFlags("given"),
    ...APPEND_FLAGS,
  ],
  examples: [
    "sig upsert --dir acme.example --subject did:web:alice.example --type employee --role deploy --role review",
    "sig upsert --dir acme.example --subject did:web:bob.example --type contractor --valid-until 2026-12-31",
  ],
  async run(call) {
    const roles = call.texts("role");
    const draft: OpenObject = {
      event_type: "relationship.upsert",
      subject: call.text("subject"),
      relationship_type: call.text("type"),
      ...given({
        roles: roles.length === 0 ? undefined : roles,
        relationship_id: call.text("relationship-id"),
        valid_from: readValidity(call, "valid_from"),
        valid_until: readValidity(call, "valid_until"),
        display: display(call),
      }),
      ...commonMembers(call),
    };
    await using issuer = await openForAppend(call);
    const { recent, relationships } = await issuer.current({
      relationship_id: call.text("relationship-id"),
      subject: call.text("subject"),
      most: MOST_NAMED,
      recentBytes: RECENT_BYTES,
    });
    const names = namesIn(recent);
    const doubts = doubtsAbout(draft, relationships, call.io.now(), names);
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

function display(call: Call) {
  const shown = given({
    title: call.text("title"),
    department: call.text("department"),
    label: call.text("label"),
  });
  return Object.keys(shown).length === 0 ? undefined : shown;
}
