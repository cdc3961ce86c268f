import type { VerifiedAnswer } from "@sig/jose";
import { openForAppend } from "../ask/open_for_append.ts";
import type { Call, Command } from "../command_line/command.ts";
import { safe, warn } from "../command_line/output.ts";
import { reportAppended, SIGNING_FLAGS } from "../issue/append.ts";
import { type Line, termLines, writeLines } from "../issue/invitation_words.ts";
import {
  consequencesOf,
  doubtsAbout,
  MOST_NAMED,
  namesIn,
  RECENT_BYTES,
} from "../issue/change_notices.ts";
import { canAsk, requireYes } from "../issue/agreement.ts";
import { REQUIRED_DIR_FLAG } from "../issue/relationship_flags.ts";
import { readJsonInput } from "../terminal/read_input.ts";

/** An answer is an invitation, an attestation, and a little about both. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** `sig enrol` */
export const enrol: Command = {
  name: "enrol",
  summary: "publish the relationship that a person has answered",
  description:
    "Verifies the answer to an invitation, shows what will be published, and\nappends it. An invitation brings one person in: the same answer again says\nthat it was there already, another person's is refused.",
  flags: [
    REQUIRED_DIR_FLAG,
    {
      name: "answer",
      value: "FILE|-",
      help: "what sig accept or the page has made; - is standard input",
      required: true,
    },
    { name: "yes", help: "append without asking" },
    {
      name: "keep-name",
      help: "write the invited name into DIR/.sig/names.csv, on this machine",
    },
    ...SIGNING_FLAGS,
  ],
  examples: [
    "sig enrol --dir acme.example --answer answer.json",
    "sig enrol --dir acme.example --answer answer.json --yes --keep-name",
  ],
  async run(call) {
    const value = await readJsonInput(call.io, call.text("answer")!, {
      what: "answer",
      flag: "--answer",
      maxBytes: MAX_ANSWER_BYTES,
      hint:
        "It is what sig accept or the page has made of the invitation, not the invitation.",
    });
    await using issuer = await openForAppend(call);
    const { enrol, enrolmentDraft } = await import("@sig/issuer");
    const { verifyAnswer } = await import("@sig/jose");
    const { createSubjectKeys } = await import("../ask/subject_key.ts");
    const { did, keys } = await issuer.identity();
    const answer = await verifyAnswer(value, {
      issuer: did,
      keys,
      now: call.io.now,
      key: createSubjectKeys(call),
    });
    const draft = enrolmentDraft(answer);
    const { recent, relationships } = await issuer.current({
      subject: answer.subject,
      most: MOST_NAMED,
      recentBytes: RECENT_BYTES,
    });
    const names = namesIn(recent);
    const doubts = doubtsAbout(draft, relationships, call.io.now(), names);
    show(call, did, answer);
    for (const each of doubts) warn(call, each);
    await requireYes(call, "Publish this?", {
      refusal:
        `Cannot enrol: nobody has agreed to publish a relationship of ${answer.subject}`,
      hint: "Look at what will be published, then add --yes.",
    });
    const appended = await enrol(issuer, answer);
    const consequences = appended.repeated
      ? []
      : consequencesOf(draft, relationships, call.io.now());
    for (const each of consequences) warn(call, each);
    await keepName(call, answer);
    const { subject } = answer;
    const notices = [...doubts, ...consequences];
    return reportAppended(call, appended, notices, { subject });
  },
};

/** All that gets published, before it is. */
function show(
  call: Call,
  issuer: string,
  { invitation: { claims }, subject }: VerifiedAnswer,
): void {
  if (call.format !== "text") return;
  const name: Line[] = claims.for === undefined
    ? []
    : [["invited was", `${claims.for} (not published)`]];
  writeLines(call.io, [
    ["published by", issuer],
    ["subject", subject],
    ...termLines(claims),
    ...name,
  ]);
}

/** A name is for people on this machine; whether it is kept is theirs to say. */
async function keepName(
  call: Call,
  { invitation: { claims: { for: name } }, subject }: VerifiedAnswer,
): Promise<void> {
  const { io } = call;
  if (name === undefined) return;
  const { namesFile } = await import("../people/names.ts");
  const dir = call.text("dir")!;
  const isWanted = call.on("keep-name") ||
    canAsk(call) &&
      await io.ask?.(safe(`Keep the name ${name} in ${namesFile(dir)}?`));
  if (!isWanted) return;
  const { saveName } = await import("../people/save_name.ts");
  await saveName(call, dir, subject, name);
}
