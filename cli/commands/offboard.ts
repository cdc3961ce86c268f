import {
  optional,
  required,
  text,
  toggle,
  type Values,
} from "@sig/api/program";
import { SigError } from "@sig/core";
import type { PublishedRelationship, RevokeDraft } from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import { did } from "../command_line/values.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { MOST_NAMED, writeChanges } from "../issue/change_notices.ts";
import {
  DIR_FLAG,
  ENDING_FLAGS,
  given,
  SIGNING_FLAGS,
  typeFlag,
} from "../issue/flags.ts";
import { counted } from "../output/write.ts";
import { PEOPLE_FLAG, tryReadPeopleFile } from "../people/people.ts";

const FLAGS = {
  ...DIR_FLAG,
  subject: required(did, "the person (id or name), or one of their keys"),
  ...typeFlag("relationships of this type only"),
  ...ENDING_FLAGS,
  reason: optional(text, "explanation for people"),
  yes: toggle("do not ask; required without a terminal"),
  ...PEOPLE_FLAG,
  ...SIGNING_FLAGS,
};

type OffboardValues = Values<typeof FLAGS>;

/** `sig offboard` */
export const offboard = typedCommand({
  description:
    "Revokes every active relationship of a person, of all keys, all or nothing, in\none batch. The whole feed is verified first, so that none is missed. Shows each\nrelationship and asks for confirmation; without a terminal it needs --yes.",
  flags: FLAGS,
  subjects: "person",
  examples: [
    "sig offboard --dir acme.example --subject did:web:alice.example --reason-code employment_ended",
    "sig offboard --dir acme.example --subject did:web:bob.example --type contractor --reason-code contract_ended --yes",
  ],
  async run(call) {
    return await appendProposal(call, async (issuer) => {
      const { activeOfPerson, revocationOf, withPeople } = await import(
        "@sig/issuer/internal"
      );
      const { keys } = await tryReadPeopleFile(call);
      const state = withPeople(await issuer.published(), keys.values());
      const { subject, type } = call.flags;
      const active = requireActive(
        call.flags,
        activeOfPerson(state, subject, type),
      );
      const count = counted(active.length, "relationship");
      const ids = active.map(({ upsert }) => upsert.relationship_id);
      const changes = active.map(revocationOf);
      return {
        drafts: active.map((each) => draftEnding(call.flags, each)),
        ifLastSequence: state.last_sequence,
        changes,
        preview: {
          when: "confirmed",
          write: () => writeChanges(call, changes, state.people),
        },
        question: {
          text: `End ${count}?`,
          refusal: {
            action: "offboard",
            reason: `ending ${count} is not confirmed`,
          },
          hint: `Look at sig who, then add --yes. It would end ${
            ids.slice(0, MOST_NAMED).join(", ")
          }${ids.length > MOST_NAMED ? ", …" : ""}.`,
        },
      };
    });
  },
});

function requireActive(
  { subject, type }: OffboardValues,
  active: readonly PublishedRelationship[],
): readonly PublishedRelationship[] {
  if (active.length > 0) return active;
  throw new SigError("unknown_relationship", {
    action: "offboard",
    reason: `${JSON.stringify(subject)} has no active relationship${
      type === undefined ? "" : ` of type ${type}`
    }`,
    context: { flag: "--subject" },
  });
}

function draftEnding(
  flags: OffboardValues,
  { upsert }: PublishedRelationship,
): RevokeDraft {
  return {
    event_type: "relationship.revoke",
    relationship_id: upsert.relationship_id,
    reason_code: flags["reason-code"],
    ...given({ effective_at: flags["effective-at"], reason: flags.reason }),
  };
}
