import type { EventDraft } from "@sig/issuer";
import type { CommandSpec } from "../command_line/command.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { MOST_NAMED, stillActive } from "../issue/change_notices.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  DIR_FLAG,
  EFFECTIVE_AT_FLAG,
  given,
  REASON_CODE_FLAG,
} from "../issue/flags.ts";

/** `sig revoke` */
export const revoke: CommandSpec = {
  description:
    "Appends one signed event. Readers deny from the moment they see it.",
  flags: [
    DIR_FLAG,
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
      help: "must be the relationship's (default: taken from it)",
    },
    EFFECTIVE_AT_FLAG,
    { name: "amend", help: "revoke again, to correct the reason or the time" },
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
    return await appendProposal(call, (issuer) =>
      Promise.resolve({
        // The issuer judges every member: flags are only text.
        drafts: [draft as unknown as EventDraft],
        about: async ({ event: { subject } }) => {
          const { relationships } = await issuer.current({
            subject,
            most: MOST_NAMED,
          });
          return { notices: stillActive(relationships, call.io.now()) };
        },
      }));
  },
};
