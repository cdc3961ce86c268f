import { type ReasonCode, SigError } from "@sig/core";
import type { Issuer, RevokeDraft } from "@sig/issuer";
import { openForAppend } from "../ask/open_for_append.ts";
import type { Call, Command } from "../command_line/command.ts";
import { safe, writeWarnings } from "../command_line/output.ts";
import { SIGNING_FLAGS } from "../issue/append.ts";
import { reportBatch } from "../issue/batch.ts";
import {
  EFFECTIVE_AT_FLAG,
  REASON_CODE_FLAG,
  REQUIRED_DIR_FLAG,
  typeFlag,
} from "../issue/relationship_flags.ts";
import { untilUnmoved } from "../issue/until_unmoved.ts";

/** `sig offboard` */
export const offboard: Command = {
  name: "offboard",
  summary: "end everything that a person has",
  description:
    "Revokes every active relationship of a subject, all or nothing, in one\nbatch. The whole feed is verified first, so that none is missed.",
  flags: [
    REQUIRED_DIR_FLAG,
    { name: "subject", value: "DID", help: "who goes", required: true },
    typeFlag("relationships of this type only"),
    { ...REASON_CODE_FLAG, required: true },
    EFFECTIVE_AT_FLAG,
    { name: "reason", value: "TEXT", help: "for people" },
    ...SIGNING_FLAGS,
  ],
  examples: [
    "sig offboard --dir acme.example --subject did:web:alice.example --reason-code employment_ended",
  ],
  async run(call) {
    await using issuer = await openForAppend(call);
    const appended = await untilUnmoved(async () => {
      const { drafts, ifLastSequence } = await draftEndings(call, issuer);
      return await issuer.appendAll(drafts, { ifLastSequence });
    });
    if (call.format === "text") {
      for (const { relationship_id, sequence, warnings } of appended) {
        writeWarnings(call, warnings);
        call.io.stdout(`Ended ${safe(relationship_id)} (seq=${sequence})\n`);
      }
      return 0;
    }
    return reportBatch(call, appended, appended.map(() => "revoke"));
  },
};

async function draftEndings(call: Call, issuer: Issuer) {
  const subject = call.text("subject")!;
  const type = call.text("type");
  const { last_sequence, relationships } = await issuer.published();
  const active = [...relationships.values()].filter(({ status, upsert }) =>
    status === "active" && upsert.subject === subject &&
    (type === undefined || upsert.relationship_type === type)
  );
  if (active.length === 0) {
    throw new SigError(
      "unknown_relationship",
      `Cannot offboard: ${JSON.stringify(subject)} has no active relationship${
        type === undefined ? "" : ` of type ${type}`
      }`,
      { context: { flag: "--subject" } },
    );
  }
  const effectiveAt = call.text("effective-at");
  const reason = call.text("reason");
  const drafts = active.map(({ upsert }): RevokeDraft => ({
    event_type: "relationship.revoke",
    relationship_id: upsert.relationship_id,
    reason_code: call.text("reason-code") as ReasonCode,
    ...(effectiveAt === undefined ? {} : { effective_at: effectiveAt }),
    ...(reason === undefined ? {} : { reason }),
  }));
  return { drafts, ifLastSequence: last_sequence };
}
