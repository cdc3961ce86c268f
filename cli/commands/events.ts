/** One signed event: `sig upsert`, `sig revoke`. @module */

import type { OpenObject } from "@sig/core";
import { many, optional, required, toggle } from "@sig/api/program";
import type { EventDraft } from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import { did, id, role } from "../command_line/values.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import {
  MOST_NAMED,
  reviewUpsert,
  stillActive,
} from "../issue/change_notices.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  contentFlags,
  DIR_FLAG,
  ENDING_FLAGS,
  given,
  TYPE_FLAG,
} from "../issue/flags.ts";

/** `sig upsert` */
export const upsert = typedCommand({
  description:
    "Appends one signed event. Members that are not given are generated. The private\nkey comes from the key store, --key, or SIG_KEY_FILE. A bare date is the start\nof that day in --valid-from and its end in --valid-until, UTC.",
  flags: {
    ...DIR_FLAG,
    subject: required(did, "the person's DID"),
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
        ifLastSequence,
        doubts,
        about: (appended) => ({ notices: noticesAfter(appended) }),
      };
    });
  },
});

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
    return await appendProposal(call, async (issuer) => {
      const { relationship_id } = draft;
      const ending = await issuer.current({ relationship_id });
      const subject = ending.relationships[0]?.subject;
      const { relationships } = await issuer.current({
        subject,
        most: MOST_NAMED,
      });
      const others = relationships.filter((each) =>
        each.relationship_id !== relationship_id
      );
      const notices = stillActive(others, call.io.now());
      return {
        // The issuer validates every member; flags are only text.
        drafts: [draft as unknown as EventDraft],
        about: () => ({ notices }),
      };
    });
  },
});
