import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { optional, required, toggle, type Values } from "@sig/api/program";
import type { UpsertDraft } from "@sig/issuer";
import type { VerifiedAnswer } from "@sig/jose";
import { type Call, typedCommand } from "../command_line/command.ts";
import { input, kid } from "../command_line/values.ts";
import { appendProposal, canAsk } from "../issue/append_proposal.ts";
import { reviewUpsert } from "../issue/change_notices.ts";
import { DIR_FLAG, SIGNING_FLAGS } from "../issue/flags.ts";
import { termLines, writeLines } from "../output/fields.ts";
import { safe } from "../output/write.ts";
import { peopleFile, savePeopleFile } from "../people/people.ts";
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
  "old-key": optional(
    kid,
    "enrol although this key, which is not the newest, signed the invitation",
  ),
  "keep-name": toggle(
    "write the invited name to DIR/.sig/people.csv (never published)",
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
    let keepsName: boolean | undefined;
    return await appendProposal(call, async (issuer) => {
      const { enrolmentDraft } = await import("@sig/issuer");
      const { resolveDidKey, verifyAnswer } = await import("@sig/jose");
      const { fetchSubjectKey } = await import("@sig/consumer");
      const allowPrivate = call.flags["allow-insecure"];
      const { did, keys, newestKid } = await issuer.identity();
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
      const { header, claims } = answer.invitation;
      const isOld = header.kid !== newestKid &&
        header.kid !== call.flags["old-key"];
      if (isOld && !canAsk(call)) throw signedByOldKey(header.kid, newestKid);
      const isFurther = claims.same_person_as !== undefined;
      const state = isFurther ? await issuer.published() : undefined;
      const now = call.io.now();
      const draft = enrolmentDraft(answer, state && { state, now });
      const reviewed = await reviewUpsert(call, issuer, { ...draft });
      const { same_person_as = subject } = claims;
      // A name belongs to the person, not to a single key.
      const person = state?.personOf?.(same_person_as) ?? same_person_as;
      return {
        drafts: [draft],
        ifLastSequence: state?.last_sequence ?? reviewed.ifLastSequence,
        doubts: [
          ...isOld ? [oldKeyDoubt(header.kid, newestKid)] : [],
          ...reviewed.doubts,
        ],
        preview: {
          when: "always",
          write: () => show(call.io, did, answer, draft),
        },
        question: {
          text: "Publish this?",
          refusal:
            `Cannot enrol: publishing a relationship of ${subject} is not confirmed`,
          hint: "Look at what will be published, then add --yes.",
          async askMore() {
            keepsName ??= claims.for !== undefined &&
              await wantsName(call, claims.for);
          },
        },
        about: (appended) => ({
          notices: reviewed.noticesAfter(appended),
          members: { subject },
        }),
        async afterwards() {
          if (!keepsName || claims.for === undefined) return;
          const { dir } = call.flags;
          await savePeopleFile(call, dir, [
            { subject: person, name: claims.for },
          ]);
        },
      };
    });
  },
});

/** The holder of a stolen key can sign invitations, also after a rotation. */
function oldKeyDoubt(kid: string, newest: string): string {
  return `the invitation was signed by ${
    quote(kid)
  }, which is not the issuer's newest key (${
    quote(newest)
  }): a stolen key that was rotated out can still sign invitations`;
}

function signedByOldKey(kid: string, newest: string): SigError {
  return new SigError(
    "confirmation_required",
    `Cannot enrol: ${oldKeyDoubt(kid, newest)}`,
    {
      context: {
        kid,
        flag: "--old-key",
        hint: `If you made this invitation yourself, add --old-key ${kid}.`,
      },
    },
  );
}

/** Shows everything that will be published. */
function show(
  io: Io,
  issuer: string,
  { invitation: { claims, header }, subject }: VerifiedAnswer,
  { relationship_type, roles = [], valid_from, valid_until }: UpsertDraft,
): void {
  writeLines(io, [
    ["published by", issuer],
    ["invitation", `signed by key ${header.kid}`],
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

/** Returns whether to keep the invited name: by the flag, or by a question. */
async function wantsName(
  call: Call<Values<typeof FLAGS>>,
  name: string,
): Promise<boolean> {
  const { dir, "keep-name": isNamed } = call.flags;
  return isNamed || canAsk(call) &&
      await call.io.ask(safe(`Keep the name ${name} in ${peopleFile(dir)}?`));
}
