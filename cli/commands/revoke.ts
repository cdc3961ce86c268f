import { optional, required, toggle } from "@sig/api/flags";
import type { EventDraft } from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import { did, id } from "../command_line/values.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { MOST_NAMED, stillActive } from "../issue/change_notices.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  DIR_FLAG,
  ENDING_FLAGS,
  given,
} from "../issue/flags.ts";

/** `sig revoke` */
export const revoke = typedCommand({
  description:
    "Appends one signed event. Readers deny from the moment they see it.",
  flags: {
    ...DIR_FLAG,
    "relationship-id": required(id, "the relationship that ends"),
    "reason-code": ENDING_FLAGS["reason-code"],
    subject: optional(
      did,
      "must be the relationship's (default: taken from it)",
    ),
    "effective-at": ENDING_FLAGS["effective-at"],
    amend: toggle("revoke again, to correct the reason or the time"),
    ...APPEND_FLAGS,
  },
  examples: [
    "sig revoke --dir acme.example --relationship-id 01K9… --reason-code employment_ended",
  ],
  async run(call) {
    const { flags } = call;
    const draft = {
      event_type: "relationship.revoke",
      relationship_id: flags["relationship-id"],
      reason_code: flags["reason-code"],
      ...given({
        subject: flags.subject,
        effective_at: flags["effective-at"],
        amend: flags.amend || undefined,
      }),
      ...commonMembers(flags),
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
});
