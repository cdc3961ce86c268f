import { isSigError, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { folder, optional, toggle, type Values } from "@sig/api/program";
import type { Issuer, PublishedState, UpsertDraft } from "@sig/issuer";
import type { PersonKey } from "@sig/issuer/people";
import type { VerifiedAnswer } from "@sig/jose";
import { type Call, typedCommand } from "../command_line/command.ts";
import { input, kid, requireEither } from "../command_line/values.ts";
import { appendProposal, canAsk } from "../issue/append_proposal.ts";
import { reviewUpsert } from "../issue/change_notices.ts";
import { DIR_FLAG, SIGNING_FLAGS } from "../issue/flags.ts";
import { termLines, writeLines } from "../output/fields.ts";
import { counted, safe, warn } from "../output/write.ts";
import { peopleFile, readPeopleFile } from "../people/people.ts";
import { savePeopleFile } from "../people/save_people.ts";
import type { Io } from "../terminal/io.ts";
import { readJsonInput } from "../terminal/read_input.ts";

/** An answer consists of an invitation, an attestation and a few members. */
const MAX_ANSWER_BYTES = 64 * 1024;

const FLAGS = {
  ...DIR_FLAG,
  answer: optional(
    input,
    "answer made by sig accept or the page; - is standard input",
  ),
  answers: optional(folder, "enrol every answer (*.json) of this folder"),
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

type EnrolCall = Call<Values<typeof FLAGS>>;

/** `sig enrol` */
export const enrol = typedCommand({
  description: `
    Verifies the answer to an invitation, shows what will be published, and
    appends it. An invitation can be used by one person: enrolling the same answer
    again changes nothing, another person's answer is refused.

    With --answers, all answers of a folder in one batch, with one preview. A faulty
    answer is named and left out (exit code 1). The person and the name of a row
    that was invited with sig invite --from are written to DIR/.sig/people.csv.`,
  flags: FLAGS,
  examples: [
    "sig enrol --dir acme.example --answer answer.json",
    "sig enrol --dir acme.example --answer answer.json --yes --keep-name",
    "sig enrol --dir acme.example --answers answers",
  ],
  async run(call) {
    const { answer, answers } = call.flags;
    requireEither(call.flags, "answer", "answers");
    return answers === undefined
      ? await enrolOne(call, answer!)
      : await enrolAll(call, answers);
  },
});

async function readAnswer(call: EnrolCall, path: string): Promise<unknown> {
  return await readJsonInput(call.io, path, {
    what: "answer",
    flag: "--answer",
    maxBytes: MAX_ANSWER_BYTES,
    hint:
      "It is the answer that sig accept or the page makes, not the invitation.",
  });
}

/** A verified answer, and what it publishes. */
interface Enrolment {
  readonly answer: VerifiedAnswer;
  readonly draft: UpsertDraft;
  /** The doubt about an invitation that another than the newest key signed. */
  readonly oldKey: string | undefined;
  /** What the people file gets, if the invitation's row is known. */
  readonly key: PersonKey | undefined;
}

/** Verifies answers against one state of the issuer. */
async function createVerifier(call: EnrolCall, issuer: Issuer) {
  const { enrolmentDraft } = await import("@sig/issuer");
  const { resolveDidKey, verifyAnswer } = await import("@sig/jose");
  const { fetchSubjectKey } = await import("@sig/consumer");
  const { readOpenInvitations } = await import("../issue/invitation_list.ts");
  const { dir, "allow-insecure": allowPrivate, "old-key": oldKey } = call.flags;
  const { did, keys, newestKid } = await issuer.identity();
  const now = call.io.now();
  const open = new Map(
    (await readOpenInvitations(dir, now)).map((each) => [each.jti, each]),
  );
  let published: PublishedState | undefined;
  return {
    issuer: did,
    /** The state, if an answer needed it. */
    state: () => published,
    async verify(value: unknown): Promise<Enrolment> {
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
      const { header, claims } = answer.invitation;
      const isOld = header.kid !== newestKid && header.kid !== oldKey;
      if (isOld && !canAsk(call)) throw signedByOldKey(header.kid, newestKid);
      if (claims.same_person_as !== undefined) {
        published ??= await issuer.published();
      }
      const state = published;
      const draft = enrolmentDraft(answer, state && { state, now });
      const row = open.get(claims.jti);
      if (row !== undefined) {
        published ??= await issuer.published();
        await requireFirstKey(call, published, draft, row.person);
      }
      return {
        answer,
        draft,
        oldKey: isOld ? oldKeyDoubt(header.kid, newestKid) : undefined,
        key: row && {
          subject: answer.subject,
          person: row.person,
          ...row.name !== null && { name: row.name },
        },
      };
    },
  };
}

/**
 * An invitation of a list is for a person without a key. After the person got
 * one, the answer would publish a second key without a link to the first, and
 * would bring back a person who left in the meantime.
 */
async function requireFirstKey(
  call: EnrolCall,
  { personOf, relationships }: PublishedState,
  { event_id, subject }: UpsertDraft,
  person: string,
): Promise<void> {
  // Not a warning: without the file, somebody who left could come back.
  const people = (await readPeopleFile(call)).linked(personOf);
  const key = people.keyOfPerson(person);
  const others = [...relationships.values()].filter((each) =>
    each.first_event_id !== event_id &&
    people.keyOf(each.upsert.subject) === key
  );
  const active = others.find(({ status }) => status === "active");
  const other = active ?? others[0];
  if (other === undefined) return;
  throw new SigError("subject_mismatch", {
    action: "enrol",
    reason: `the invitation is for a first key, and person ${
      quote(person)
    } has had ${quote(other.upsert.subject)}`,
    context: {
      subject,
      hint: active !== undefined
        ? "sig invite --also invites another key of a person."
        : "If the person comes back, give the list a row with the person and this subject, and apply it with --readmit.",
    },
  });
}

async function enrolOne(call: EnrolCall, path: string): Promise<void> {
  const value = await readAnswer(call, path);
  let keepsName: boolean | undefined;
  return await appendProposal(call, async (issuer) => {
    const { issuer: did, state: stateOf, verify } = await createVerifier(
      call,
      issuer,
    );
    const { answer, draft, key, oldKey } = await verify(value);
    const { subject } = answer;
    const { claims } = answer.invitation;
    const state = stateOf();
    const reviewed = await reviewUpsert(call, issuer, { ...draft });
    const { same_person_as = subject } = claims;
    // A name belongs to the person, not to a single key.
    const person = state?.personOf(same_person_as) ?? same_person_as;
    return {
      drafts: [draft],
      // The answer to one invitation, which is shown before the question.
      guards: "named",
      ifLastSequence: state?.last_sequence ?? reviewed.ifLastSequence,
      doubts: [...oldKey === undefined ? [] : [oldKey], ...reviewed.doubts],
      preview: {
        when: "always",
        write: () => show(call.io, did, answer, draft),
      },
      question: {
        ...questionOf("this", `a relationship of ${subject}`),
        async askMore() {
          if (key !== undefined || claims.for === undefined) return;
          keepsName ??= await wantsName(call, claims.for);
        },
      },
      about: (appended) => ({
        notices: reviewed.noticesAfter(appended),
        members: { subject },
      }),
      async afterwards() {
        const named = keepsName ? { subject: person, name: claims.for } : key;
        await keep(call, named === undefined ? [] : [named], [claims.jti]);
      },
    };
  });
}

function questionOf(shown: string, what: string) {
  return {
    text: `Publish ${shown}?`,
    refusal: {
      action: "enrol",
      reason: `publishing ${what} is not confirmed`,
    },
    hint: "Look at what will be published, then add --yes.",
  };
}

/** A file of `--answers` that is left out, and why. */
interface LeftOut {
  readonly file: string;
  readonly code: string;
  readonly detail: string;
}

async function enrolAll(call: EnrolCall, folder: string): Promise<number> {
  const names = (await call.io.listFolder(folder))
    ?.filter((name) => name.endsWith(".json"));
  if (names === undefined || names.length === 0) {
    throw new SigError("source_not_found", {
      action: "read answers",
      reason: `folder ${quote(folder)} ${
        names === undefined ? "can't be read" : "has no file *.json"
      }`,
      context: { flag: "--answers" },
    });
  }
  let leftOut: readonly LeftOut[] = [];
  await appendProposal(call, async (issuer) => {
    const { issuer: did, verify } = await createVerifier(call, issuer);
    const { relationships, last_sequence } = await issuer.published();
    const read = { folder, names, relationships, verify };
    const { enrolments, ...rest } = await readAnswers(call, read);
    leftOut = rest.leftOut;
    for (const { code, detail, file } of leftOut) {
      warn(call, `${file} is left out: ${code}: ${detail}`);
    }
    const count = counted(enrolments.length, "relationship");
    const jtis = enrolments.map(({ answer }) => answer.invitation.claims.jti);
    return {
      drafts: enrolments.map(({ draft }) => draft),
      // Answers to invitations of this issuer; each is shown.
      guards: "named",
      ifLastSequence: last_sequence,
      doubts: [
        ...new Set(enrolments.flatMap(({ oldKey }) => oldKey ?? [])),
      ],
      preview: {
        when: "always",
        write() {
          for (const { answer, draft } of enrolments) {
            show(call.io, did, answer, draft);
            call.io.stderr("\n");
          }
        },
      },
      question: questionOf(count, count),
      remarks: { text: "", members: { left_out: leftOut } },
      afterwards: () =>
        keep(
          call,
          enrolments.flatMap((each) => keptOf(call, each) ?? []),
          jtis,
        ),
    };
  });
  return leftOut.length > 0 ? 1 : 0;
}

/**
 * Verifies the answers of a folder. Leaves out faulty ones, and those to an
 * invitation that another person has answered, in the feed or in the same
 * folder: it is not known which of them was invited.
 */
async function readAnswers(
  call: EnrolCall,
  { folder, names, relationships, verify }: {
    readonly folder: string;
    readonly names: readonly string[];
    readonly relationships: PublishedState["relationships"];
    verify(value: unknown): Promise<Enrolment>;
  },
) {
  const leftOut: LeftOut[] = [];
  const read: (readonly [file: string, enrolment: Enrolment])[] = [];
  for (const file of names) {
    try {
      const value = await readAnswer(call, `${folder}/${file}`);
      read.push([file, await verify(value)]);
    } catch (error) {
      if (!isSigError(error)) throw error;
      leftOut.push({ file, code: error.code, detail: error.message });
    }
  }
  const published = Array.from(
    relationships.values(),
    ({ first_event_id: event_id, upsert: { subject } }) => (
      { event_id, subject }
    ),
  );
  const answered = Map.groupBy(
    [...published, ...read.map(([, { draft }]) => draft)],
    ({ event_id }) => event_id,
  );
  const enrolments = new Map<string, Enrolment>();
  for (const [file, each] of read) {
    const { event_id, subject } = each.draft;
    if (answered.get(event_id)!.some((other) => other.subject !== subject)) {
      const detail = "another person has answered the same invitation";
      leftOut.push({ file, code: "invitation_used", detail });
      // The same answer may be there twice.
    } else enrolments.set(`${event_id} ${subject}`, each);
  }
  return { enrolments: [...enrolments.values()], leftOut };
}

/** Returns what the people file gets: the row, or with `--keep-name` the name. */
function keptOf(
  call: EnrolCall,
  { answer, key }: Enrolment,
): PersonKey | undefined {
  const { for: name } = answer.invitation.claims;
  if (key !== undefined || !call.flags["keep-name"] || name === undefined) {
    return key;
  }
  return { subject: answer.subject, name };
}

/** Writes the people file, and forgets the answered invitations. */
async function keep(
  call: EnrolCall,
  keys: readonly PersonKey[],
  answered: readonly string[],
): Promise<void> {
  const { dir } = call.flags;
  const { updateOpenInvitations } = await import("../issue/invitation_list.ts");
  await savePeopleFile(call, dir, keys);
  await updateOpenInvitations(dir, call.io.now(), { answered });
}

/** The holder of a stolen key can sign invitations, also after a rotation. */
function oldKeyDoubt(kid: string, newest: string): string {
  return `the invitation was signed by ${
    quote(kid)
  }, which is not the issuer's newest key (${
    quote(newest)
  }): a stolen key that was rotated out can still sign invitations`;
}

function signedByOldKey(kid: string, newest: string): SigError {
  return new SigError("confirmation_required", {
    action: "enrol",
    reason: oldKeyDoubt(kid, newest),
    context: {
      kid,
      flag: "--old-key",
      hint: `If you made this invitation yourself, add --old-key ${kid}.`,
    },
  });
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
  call: EnrolCall,
  name: string,
): Promise<boolean> {
  const { dir, "keep-name": isNamed } = call.flags;
  return isNamed || canAsk(call) &&
      await call.io.ask(safe(`Keep the name ${name} in ${peopleFile(dir)}?`));
}
