import type { EventDraft } from "@sig/issuer";
import { openForAppend } from "../ask/open_for_append.ts";
import { warn } from "../command_line/output.ts";
import { MOST_NAMED, stillActive } from "../issue/change_notices.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  given,
  reportAppended,
} from "../issue/append.ts";
import {
  EFFECTIVE_AT_FLAG,
  REASON_CODE_FLAG,
  REQUIRED_DIR_FLAG,
} from "../issue/relationship_flags.ts";
import type { Command } from "../command_line/command.ts";

/** `sig revoke` */
export const revoke: Command = {
  name: "revoke",
  summary: "end a relationship",
  description: "Appends one signed event. It counts as soon as readers see it.",
  flags: [
    REQUIRED_DIR_FLAG,
    {
      name: "relationship-id",
      value: "ID",
      help: "the relationship that ends",
      required: true,
    },
    { ...REASON_CODE_FLAG, required: true },
    {
      name: "subject",
      value: "DID",
      help: "must be the relationship's; taken from it unless told",
    },
    EFFECTIVE_AT_FLAG,
    { name: "amend", help: "revoke once more, to correct reason or time" },
    ...APPEND_FLAGS,
  ],
  examples: [
    "sig revoke --dir acme.example --relationship-id 01K9… --reason-code employment_ended",
  ],
  async run(call) {
    const draft = {
      event_type: "relationship.revoke",
      relationship_id: call.text("relationship-id"),
      reason_code: call.text("reason-code"),
      ...given({
        subject: call.text("subject"),
        effective_at: call.text("effective-at"),
        amend: call.on("amend") ? true : undefined,
      }),
      ...commonMembers(call),
    };
    await using issuer = await openForAppend(call);
    // The issuer judges every member: flags are only text.
    const appended = await issuer.append(draft as unknown as EventDraft);
    const { subject } = appended.event;
    const { relationships } = await issuer.current({
      subject,
      most: MOST_NAMED,
    });
    const active = stillActive(relationships, call.io.now());
    for (const each of active) warn(call, each);
    return reportAppended(call, appended, active);
  },
};
