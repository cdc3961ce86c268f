import { type ReasonCode, SigError } from "@sig/core";
import type { Issuer, PublishedRelationship, RevokeDraft } from "@sig/issuer";
import { openForAppend } from "../ask/open_for_append.ts";
import type { Call, Command } from "../command_line/command.ts";
import { counted, safe, writeWarnings } from "../command_line/output.ts";
import { canAsk, requireYes } from "../issue/agreement.ts";
import { SIGNING_FLAGS } from "../issue/append.ts";
import { reportBatch } from "../issue/batch.ts";
import {
  EFFECTIVE_AT_FLAG,
  REASON_CODE_FLAG,
  REQUIRED_DIR_FLAG,
  typeFlag,
} from "../issue/relationship_flags.ts";
import { MOST_NAMED } from "../issue/change_notices.ts";
import { NAMES_FLAG, readNames } from "../people/names.ts";
import { untilUnmoved } from "../issue/until_unmoved.ts";

/** `sig offboard` */
export const offboard: Command = {
  name: "offboard",
  summary: "end everything that a person has",
  description:
    "Revokes every active relationship of a subject, all or nothing, in one\nbatch. The whole feed is verified first, so that none is missed. Shows each\nrelationship and asks for confirmation; without a terminal it needs --yes.",
  flags: [
    REQUIRED_DIR_FLAG,
    { name: "subject", value: "DID", help: "who goes", required: true },
    typeFlag("relationships of this type only"),
    { ...REASON_CODE_FLAG, required: true },
    EFFECTIVE_AT_FLAG,
    { name: "reason", value: "TEXT", help: "for people" },
    { name: "yes", help: "do not ask; required without a terminal" },
    NAMES_FLAG,
    ...SIGNING_FLAGS,
  ],
  examples: [
    "sig offboard --dir acme.example --subject did:web:alice.example --reason-code employment_ended",
    "sig offboard --dir acme.example --subject did:web:bob.example --type contractor --reason-code contract_ended --yes",
  ],
  async run(call) {
    await using issuer = await openForAppend(call);
    const agreed = new Set<string>();
    const appended = await untilUnmoved(async () => {
      const { active, drafts, ifLastSequence } = await draftEndings(
        call,
        issuer,
      );
      const shown = JSON.stringify(active);
      if (!agreed.has(shown)) await requireAgreed(call, active);
      agreed.add(shown);
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
  return { active, drafts, ifLastSequence: last_sequence };
}

/** Shows whose relationships end before it asks. */
async function requireAgreed(
  call: Call,
  active: readonly PublishedRelationship[],
): Promise<void> {
  if (canAsk(call) || call.on("yes") && call.format === "text") {
    const names = await readNames(call, call.text("dir"));
    const { endingOf } = await import("@sig/issuer");
    const { writeChange } = await import("../people/write_plan.ts");
    for (const each of active) writeChange(call, endingOf(each), names);
  }
  const count = counted(active.length, "relationship");
  const ids = active.map(({ upsert }) => upsert.relationship_id);
  await requireYes(call, `End ${count}?`, {
    refusal: `Cannot offboard: ending ${count} is not confirmed`,
    hint: `Look at sig who, then add --yes. It would end ${
      ids.slice(0, MOST_NAMED).join(", ")
    }${ids.length > MOST_NAMED ? ", …" : ""}.`,
  });
}
