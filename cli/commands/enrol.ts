import { required, toggle, type Values } from "@sig/api/program";
import type { UpsertDraft } from "@sig/issuer";
import type { VerifiedAnswer } from "@sig/jose";
import { type Call, typedCommand } from "../command_line/command.ts";
import { input } from "../command_line/values.ts";
import { appendProposal, canAsk } from "../issue/append_proposal.ts";
import { reviewUpsert } from "../issue/change_notices.ts";
import { DIR_FLAG, SIGNING_FLAGS } from "../issue/flags.ts";
import { termLines, writeLines } from "../output/fields.ts";
import { safe } from "../output/write.ts";
import { namesFile, saveNames } from "../people/names.ts";
import type { Io } from "../terminal/io.ts";
import { readJsonInput } from "../terminal/read_input.ts";

/** An answer consists of an invitation, an attestation and a few members. */
const MAX_ANSWER_BYTES = 64 * 1024;

const FLAGS = {
  ...DIR_FLAG,
  answer: required(
    input,
    "answer made by sig accept or the page; - is standard input",
  ),
  yes: toggle("append without asking"),
  "keep-name": toggle(
    "write the invited name to DIR/.sig/names.csv (never published)",
  ),
  ...SIGNING_FLAGS,
};

/** `sig enrol` */
export const enrol = typedCommand({
  description:
    "Verifies the answer to an invitation, shows what will be published, and\nappends it. An invitation can be used by one person: enrolling the same answer\nagain changes nothing, another person's answer is refused.",
  flags: FLAGS,
  examples: [
    "sig enrol --dir acme.example --answer answer.json",
    "sig enrol --dir acme.example --answer answer.json --yes --keep-name",
  ],
  async run(call) {
    const value = await readJsonInput(call.io, call.flags.answer, {
      what: "answer",
      flag: "--answer",
      maxBytes: MAX_ANSWER_BYTES,
      hint:
        "It is the answer that sig accept or the page makes, not the invitation.",
    });
    return await appendProposal(call, async (issuer) => {
      const { enrolmentDraft } = await import("@sig/issuer");
      const { resolveDidKey, verifyAnswer } = await import("@sig/jose");
      const { fetchSubjectKey } = await import("@sig/consumer");
      const allowPrivate = call.flags["allow-insecure"];
      const { did, keys } = await issuer.identity();
      const answer = await verifyAnswer(value, {
        issuer: did,
        keys,
        now: call.io.now,
        // For a did:web, the key that its document has now must have signed.
        key: (kid) =>
          kid.startsWith("did:web:")
            ? fetchSubjectKey(kid, { allowPrivate })
            : resolveDidKey(kid),
      });
      const { subject } = answer;
      const now = call.io.now();
      const isFurther = answer.invitation.claims.same_person_as !== undefined;
      const state = isFurther ? await issuer.published() : undefined;
      const draft = enrolmentDraft(answer, state && { state, now });
      const reviewed = await reviewUpsert(issuer, { ...draft }, now);
      return {
        drafts: [draft],
        ...(state && { ifLastSequence: state.last_sequence }),
        doubts: reviewed.doubts,
        preview: {
          when: "always",
          write: () => show(call.io, did, answer, draft),
        },
        question: {
          text: "Publish this?",
          refusal:
            `Cannot enrol: publishing a relationship of ${subject} is not confirmed`,
          hint: "Look at what will be published, then add --yes.",
        },
        async about(appended) {
          const { same_person_as = subject } = answer.invitation.claims;
          // A name belongs to the person, not to a single key.
          const person = state?.personOf?.(same_person_as) ?? same_person_as;
          await keepName(call, answer, person);
          return {
            notices: reviewed.noticesAfter(appended),
            members: { subject },
          };
        },
      };
    });
  },
});

/** Shows everything that will be published. */
function show(
  io: Io,
  issuer: string,
  { invitation: { claims }, subject }: VerifiedAnswer,
  { relationship_type, roles = [], valid_from, valid_until }: UpsertDraft,
): void {
  writeLines(io, [
    ["published by", issuer],
    ["subject", subject],
    ...termLines({
      relationship_type,
      roles,
      ...(valid_from ? { valid_from } : {}),
      ...(valid_until ? { valid_until } : {}),
      ...(claims.same_person_as && { same_person_as: claims.same_person_as }),
    }),
    ...(claims.for === undefined
      ? []
      : [["invited was", `${claims.for} (not published)`] as const]),
  ]);
}

/**
 * Saves the invited name locally, if `--keep-name` or a confirmation allows it.
 */
async function keepName(
  call: Call<Values<typeof FLAGS>>,
  { invitation: { claims: { for: name } } }: VerifiedAnswer,
  subject: string,
): Promise<void> {
  if (name === undefined) return;
  const { dir, "keep-name": isNamed } = call.flags;
  const isWanted = isNamed ||
    canAsk(call) &&
      await call.io.ask(safe(`Keep the name ${name} in ${namesFile(dir)}?`));
  if (!isWanted) return;
  await saveNames(call, dir, new Map([[subject, name]]));
}
