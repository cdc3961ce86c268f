import { optional, required, text, toggle } from "@sig/api/program";
import { SigError } from "@sig/core";
import type { RevokeDraft } from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import { person } from "../command_line/values.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { MOST_NAMED } from "../issue/change_notices.ts";
import {
  DIR_FLAG,
  ENDING_FLAGS,
  given,
  SIGNING_FLAGS,
  typeFlag,
} from "../issue/flags.ts";
import { publishedState } from "../issue/open_issuer.ts";
import { writeChanges } from "../output/changes.ts";
import { counted } from "../output/write.ts";
import { PEOPLE_FLAG } from "../people/people.ts";

/** `sig offboard` */
export const offboard = typedCommand({
  description: `
    Revokes every active relationship of a person, of all keys, all or nothing, in
    one batch. The whole feed is verified first, so that none is missed. Shows each
    relationship and asks for confirmation; without a terminal it needs --yes.`,
  flags: {
    ...DIR_FLAG,
    subject: required(person, "the person (id or name), or one of their keys"),
    ...typeFlag("relationships of this type only"),
    ...ENDING_FLAGS,
    reason: optional(text, "explanation for people"),
    yes: toggle("do not ask; required without a terminal"),
    ...PEOPLE_FLAG,
    ...SIGNING_FLAGS,
  },
  subjects: "person",
  examples: [
    "sig offboard --dir acme.example --subject did:web:alice.example --reason-code employment_ended",
    "sig offboard --dir acme.example --subject did:web:bob.example --type contractor --reason-code contract_ended --yes",
  ],
  async run(call) {
    return await appendProposal(call, async (issuer) => {
      const { PersonIndex, revocationOf } = await import(
        "@sig/issuer/internal"
      );
      const state = await publishedState(call, issuer);
      const { subject, type } = call.flags;
      const active = new PersonIndex(state).activeOf(subject, type);
      if (active.length === 0) {
        const whose = state.people.named(subject).name ?? subject;
        throw new SigError("unknown_relationship", {
          action: "offboard",
          reason: `${JSON.stringify(whose)} has no active relationship${
            type === undefined ? "" : ` of type ${type}`
          }`,
          context: { flag: "--subject" },
        });
      }
      const count = counted(active.length, "relationship");
      const ids = active.map(({ upsert }) => upsert.relationship_id);
      const changes = active.map(revocationOf);
      return {
        drafts: ids.map((relationship_id): RevokeDraft => ({
          event_type: "relationship.revoke",
          relationship_id,
          reason_code: call.flags["reason-code"],
          ...given({
            effective_at: call.flags["effective-at"],
            reason: call.flags.reason,
          }),
        })),
        // One person, whose relationships are shown before the question.
        guards: "named",
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
