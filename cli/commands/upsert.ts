import type { OpenObject } from "@sig/core";
import { many, optional, required } from "@sig/api/program";
import type { EventDraft } from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import { id, person, role } from "../command_line/values.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { reviewUpsert } from "../issue/change_notices.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  contentFlags,
  DIR_FLAG,
  given,
  TYPE_FLAG,
} from "../issue/flags.ts";

/** `sig upsert` */
export const upsert = typedCommand({
  description: `
    Appends one signed event. Members that are not given are generated. The private
    key comes from the key store, --key, or SIG_KEY_FILE. A bare date is the start
    of that day in --valid-from and its end in --valid-until, UTC.`,
  flags: {
    ...DIR_FLAG,
    subject: required(
      person,
      "the key, or a person (id or name) with one active key",
    ),
    ...TYPE_FLAG,
    role: many(role, "role; may be repeated"),
    "relationship-id": optional(
      id,
      "replaces an existing one (default: a new one)",
    ),
    ...contentFlags((type) => type),
    ...APPEND_FLAGS,
  },
  examples: [
    "sig upsert --dir acme.example --subject did:web:alice.example --type employee --role deploy --role review",
    "sig upsert --dir acme.example --subject did:web:bob.example --type contractor --valid-until 2026-12-31",
  ],
  async run(call) {
    const { department, label, role: roles, subject, title } = call.flags;
    const display = given({ title, department, label });
    const draft: OpenObject = {
      event_type: "relationship.upsert",
      subject,
      relationship_type: call.flags.type,
      ...given({
        roles: roles.length === 0 ? undefined : roles,
        relationship_id: call.flags["relationship-id"],
        valid_from: call.flags["valid-from"],
        valid_until: call.flags["valid-until"],
        display: Object.keys(display).length === 0 ? undefined : display,
      }),
      ...commonMembers(call.flags),
    };
    return await appendProposal(call, async (issuer) => {
      const { doubts, ifLastSequence, noticesAfter } = await reviewUpsert(
        call,
        issuer,
        draft,
      );
      return {
        // The issuer validates every member; flags are only text.
        drafts: [draft as unknown as EventDraft],
        // One relationship, which the flags describe.
        guards: "named",
        ifLastSequence,
        doubts,
        about: (appended) => ({ notices: noticesAfter(appended) }),
      };
    });
  },
});
