import type { OpenObject } from "@sig/core";
import type { EventDraft } from "@sig/issuer";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import {
  doubtsAbout,
  namesIn,
  noticesAfterUpsert,
  readKnown,
} from "../issue/change_notices.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  contentFlags,
  DIR_FLAG,
  given,
  typeFlag,
} from "../issue/flags.ts";
import { readValidity } from "../people/day.ts";

/** `sig upsert` */
export const upsert: CommandSpec = {
  description:
    "Appends one signed event. Members that are not given are generated. The private\nkey comes from the key store, --key, or SIG_KEY_FILE. A bare date is the start\nof that day in --valid-from and its end in --valid-until, UTC.",
  flags: [
    DIR_FLAG,
    { name: "subject", value: "DID", help: "the person's DID", required: true },
    { ...typeFlag(), required: true },
    {
      name: "role",
      value: "ROLE",
      help: "role; may be repeated",
      repeat: true,
    },
    {
      name: "relationship-id",
      value: "ID",
      help: "replaces an existing one (default: a new one)",
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
    return await appendProposal(call, async (issuer) => {
      const known = await readKnown(issuer, draft);
      const { relationships } = known;
      const names = namesIn(known.recent);
      const now = call.io.now();
      return {
        // The issuer judges every member: flags are only text.
        drafts: [draft as unknown as EventDraft],
        doubts: doubtsAbout(draft, relationships, now, names),
        about: (appended) =>
          Promise.resolve({
            notices: noticesAfterUpsert(draft, relationships, appended, now),
          }),
      };
    });
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
