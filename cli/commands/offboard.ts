import { type ReasonCode, SigError } from "@sig/core";
import type {
  PublishedRelationship,
  PublishedState,
  RevokeDraft,
} from "@sig/issuer";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { MOST_NAMED, writeChanges } from "../issue/change_notices.ts";
import {
  DIR_FLAG,
  EFFECTIVE_AT_FLAG,
  given,
  REASON_CODE_FLAG,
  SIGNING_FLAGS,
  typeFlag,
} from "../issue/flags.ts";
import { counted } from "../output/write.ts";
import { NAMES_FLAG } from "../people/names.ts";

/** `sig offboard` */
export const offboard: CommandSpec = {
  description:
    "Revokes every active relationship of a subject, all or nothing, in one\nbatch. The whole feed is verified first, so that none is missed. Shows each\nrelationship and asks for confirmation; without a terminal it needs --yes.",
  flags: [
    DIR_FLAG,
    { name: "subject", value: "DID", help: "the person's DID", required: true },
    typeFlag("relationships of this type only"),
    { ...REASON_CODE_FLAG, required: true },
    EFFECTIVE_AT_FLAG,
    { name: "reason", value: "TEXT", help: "explanation for people" },
    { name: "yes", help: "do not ask; required without a terminal" },
    NAMES_FLAG,
    ...SIGNING_FLAGS,
  ],
  examples: [
    "sig offboard --dir acme.example --subject did:web:alice.example --reason-code employment_ended",
    "sig offboard --dir acme.example --subject did:web:bob.example --type contractor --reason-code contract_ended --yes",
  ],
  async run(call) {
    return await appendProposal(call, async (issuer) => {
      const { endingOf } = await import("@sig/issuer");
      const state = await issuer.published();
      const active = findActive(call, state);
      const count = counted(active.length, "relationship");
      const ids = active.map(({ upsert }) => upsert.relationship_id);
      const changes = active.map(endingOf);
      return {
        drafts: active.map((each) => draftEnding(call, each)),
        ifLastSequence: state.last_sequence,
        changes,
        preview: {
          when: "confirmed",
          write: () => writeChanges(call, changes),
        },
        question: {
          text: `End ${count}?`,
          refusal: `Cannot offboard: ending ${count} is not confirmed`,
          hint: `Look at sig who, then add --yes. It would end ${
            ids.slice(0, MOST_NAMED).join(", ")
          }${ids.length > MOST_NAMED ? ", …" : ""}.`,
        },
      };
    });
  },
};

function findActive(
  call: Call,
  { relationships }: PublishedState,
): readonly PublishedRelationship[] {
  const subject = call.text("subject")!;
  const type = call.text("type");
  const active = [...relationships.values()].filter(({ status, upsert }) =>
    status === "active" && upsert.subject === subject &&
    (type === undefined || upsert.relationship_type === type)
  );
  if (active.length > 0) return active;
  throw new SigError(
    "unknown_relationship",
    `Cannot offboard: ${JSON.stringify(subject)} has no active relationship${
      type === undefined ? "" : ` of type ${type}`
    }`,
    { context: { flag: "--subject" } },
  );
}

function draftEnding(
  call: Call,
  { upsert }: PublishedRelationship,
): RevokeDraft {
  return {
    event_type: "relationship.revoke",
    relationship_id: upsert.relationship_id,
    // One of the flag's choices.
    reason_code: call.text("reason-code") as ReasonCode,
    ...given({
      effective_at: call.text("effective-at"),
      reason: call.text("reason"),
    }),
  };
}
