import {
  type AskedQuestion,
  type CheckAnswer,
  type Explanation,
  isDid,
  isSigError,
  parseQuestion,
  parseRequirements,
  type Reason,
} from "@sig/core";
import { MAX_ANSWER_WARNINGS, quote } from "@sig/core/internal";
import { type AnyAnswer, parseSource } from "@sig/consumer";
import { combineAnswers } from "@sig/consumer/internal";
import { many, required, toggle } from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { mainSource, person, textOf } from "../command_line/values.ts";
import {
  colour,
  counted,
  type Output,
  safe,
  warn,
  writeJson,
  writeWarnings,
} from "../output/write.ts";
import { neverSeen } from "../ask/never_seen.ts";
import {
  askEachKey,
  POLICY_FLAGS,
  type PolicyValues,
  SOURCE_HELP,
  sourceOptions,
  TIME_FLAGS,
  timeOf,
  withMemory,
} from "../ask/source_flags.ts";
import { PIN_FLAGS, type PinValues, PROOF_FLAGS } from "../ask/pin_flags.ts";

/** `--require`, the requirements of the question. */
export const REQUIRE_FLAG = {
  require: many(
    textOf("KEY=VALUE"),
    "relationship=TYPE, role=NAME or relationship_id=ID, at least one; one relationship must meet all",
  ),
};

const FLAGS = {
  sig: {
    ...many(
      mainSource,
      `${SOURCE_HELP}; of several, one that allows is sufficient`,
    ),
    required: true,
  },
  subject: required(
    person,
    "subject of the question, or a person (id or name)",
  ),
  ...REQUIRE_FLAG,
  ...TIME_FLAGS,
  explain: toggle("show how each relationship was judged"),
  ...PROOF_FLAGS,
  ...PIN_FLAGS,
  ...POLICY_FLAGS,
} as const;

type AskingCall = Call<PinValues & PolicyValues>;

/** `sig check` */
export const check = typedCommand({
  description: `
    Exits with 0 on allow, 1 on deny, and 2 on an error, so that
    \`sig check … && ./deploy\` deploys on allow only. With several --sig all issuers
    are asked at once: allow if one of them allows, even if others fail; deny only
    if all of them answered.`,
  flags: FLAGS,
  subjects: "each",
  format: "json",
  examples: [
    "sig check --sig acme.example --subject did:web:alice.example --require relationship=employee --require role=deploy",
    "sig check --sig ./acme.example --subject did:web:alice.example --require role=deploy --at 2026-02-10T12:00:00Z --explain --format text",
    "sig check --sig acme.example --sig partner.example --subject did:web:alice.example --require role=deploy",
  ],
  async run(call) {
    const { explain, sig: sources } = call.flags;
    const require = parseRequirements(call.flags.require);
    const question = { require, ...timeOf(call.flags), explain };
    const ask = (subject: string) =>
      checkSources(call, sources, { subject, ...question });
    const all = await askEachKey(
      call,
      ask,
      ({ decision }) => decision === "allow",
    ).catch((error) => {
      // The JSON error includes the answers already.
      const { answers } = isSigError(error) ? error.context : {};
      if (answers !== undefined && call.format === "text") {
        writeAside(call, answers as unknown as AnyAnswer["answers"], sources);
      }
      throw error;
    });
    const [answer] = sources.length === 1 ? all.answers : [];
    const only = answer !== undefined && "decision" in answer
      ? await withNeverSeen(call, sources[0]!, answer)
      : answer;
    if (call.format === "json") writeJson(call.io, only ?? all);
    else if (only !== undefined && "decision" in only) {
      writeAnswer(call, only, sources[0]!);
    } else writeAll(call, all, sources);
    return all.decision === "allow" ? 0 : 1;
  },
});

/** Largest feed that is read again to explain a deny. */
const MAX_EXPLAINED_EVENTS = 50_000;

/**
 * Adds a warning for each word of the question that the feed has never had, if
 * the whole feed was read: a misspelt role denies, as an unknown one does.
 */
async function withNeverSeen(
  call: AskingCall,
  source: string,
  answer: CheckAnswer,
): Promise<CheckAnswer> {
  if (
    answer.decision === "allow" || answer.proof !== null ||
    answer.last_sequence > MAX_EXPLAINED_EVENTS
  ) return answer;
  const { state } = await withMemory(call, source, (from) => from.state({}));
  const wordsOf = (key: string) =>
    answer.requirements.flatMap((each) => each.key === key ? each.value : []);
  const found = neverSeen(state, {
    subjects: [answer.subject],
    roles: wordsOf("role"),
    types: wordsOf("relationship"),
  });
  return {
    ...answer,
    warnings: [...answer.warnings, ...found].slice(0, MAX_ANSWER_WARNINGS),
  };
}

/**
 * Checks all sources. Allows if any source allows, even if others fail; denies
 * only if all sources answered.
 *
 * @throws {SigError} the error of a single source, or as `combineAnswers`.
 */
export async function checkSources(
  call: AskingCall,
  sources: readonly string[],
  question: AskedQuestion,
): Promise<AnyAnswer> {
  const [only, ...others] = sources;
  if (only !== undefined && others.length === 0) {
    const answer = await checkSource(call, only, question);
    return { decision: answer.decision, answers: [answer] };
  }
  parseQuestion(question);
  const names = sources.map((source) => {
    // Throws for a malformed source, before any source is read.
    const parsed = parseSource(source, sourceOptions(call));
    return parsed.kind === "did" ? parsed.did : source;
  });
  return await combineAnswers(sources.map((source, i) => ({
    issuer: names[i]!,
    answer: () => checkSource(call, source, question),
  })));
}

async function checkSource(
  call: AskingCall,
  source: string,
  question: AskedQuestion,
): Promise<CheckAnswer> {
  const answer = await withMemory(
    call,
    source,
    (from) => from.check(question),
  );
  return {
    ...answer,
    warnings: answer.warnings.slice(0, MAX_ANSWER_WARNINGS),
  };
}

/** Writes the decision, then the answer of each source. */
function writeAll(
  call: Output,
  { decision, answers }: AnyAnswer,
  sources: readonly string[],
): void {
  const { io } = call;
  const allows = answers.filter((each) =>
    "decision" in each && each.decision === "allow"
  );
  const name = decision === "allow" ? "green" : "red";
  io.stdout(
    `${
      colour(io, "stdout", name, decision)
    }  ${allows.length} of ${answers.length} issuers allow\n`,
  );
  writeEach(call, answers, sources);
}

/** Writes the answer of each source to stderr. */
export function writeAside(
  { format, io }: Output,
  answers: AnyAnswer["answers"],
  sources: readonly string[],
): void {
  writeEach({ format, io: { ...io, stdout: io.stderr } }, answers, sources);
}

/** Writes the answer of each source. */
function writeEach(
  call: Output,
  answers: AnyAnswer["answers"],
  sources: readonly string[],
): void {
  const { io } = call;
  for (const [i, each] of answers.entries()) {
    const issuer = `${safe(each.issuer)}: `;
    if ("decision" in each) {
      io.stdout(issuer);
      writeAnswer(call, each, sources[i]!);
    } else {
      const word = colour(io, "stdout", "yellow", "no answer");
      io.stdout(
        `${issuer}${word}  ${each.error.code}: ${safe(each.error.detail)}\n`,
      );
    }
  }
}

function writeAnswer(call: Output, answer: CheckAnswer, source: string): void {
  const { io } = call;
  const isUnknown = answer.reasons.some(({ code }) =>
    code === "no_relationship"
  );
  writeWarnings(call, answer.warnings, answer.source);
  const allow = answer.decision === "allow";
  const word = colour(io, "stdout", allow ? "green" : "red", answer.decision);
  const asked = answer.requirements.map(({ key, value }) => `${key}=${value}`);
  io.stdout(`${word}  ${safe(`${answer.subject}  ${asked.join(" ")}`)}\n`);
  if (answer.matched_relationship_id !== null) {
    io.stdout(`  by relationship ${safe(answer.matched_relationship_id)}\n`);
  }
  for (const reason of answer.reasons) {
    io.stdout(`  ${describeReason(reason)}\n`);
  }
  if (!allow && io.isTerminal("stdout")) {
    // Suggests a command that explains the answer.
    const next = isUnknown
      ? `sig who ${source} lists the subjects of the issuer`
      : `sig log ${source} --subject ${answer.subject} shows what the issuer published`;
    io.stdout(`  next: ${safe(next)}\n`);
  }
  // A misspelt subject is denied like an unknown subject, so a warning points
  // it out.
  const isWarned = answer.warnings.some(({ code }) => code === "never_seen");
  if (isUnknown && !isWarned && !isDid(answer.subject)) {
    warn(
      call,
      `the feed has no event about ${
        quote(answer.subject)
      }, which is not a DID: did you mean did:web:${answer.subject}?`,
    );
  }
  if (answer.explain === undefined) return;
  writeExplanation(call, answer.explain);
  if (answer.proof === null) return;
  const flags = answer.requirements.map(({ key, value }) =>
    `--require ${key}=${value}`
  );
  const { signed_at, size, tail } = answer.proof;
  io.stdout(
    `  proven by the checkpoint of ${counted(size, "event")}, signed at ${
      signed_at ?? "an unknown time"
    }, and ${counted(tail, "event")} after it\n`,
  );
  const subject = `--subject ${answer.subject}`;
  const words = ["sig evidence make", `--sig ${source}`, subject, ...flags];
  io.stdout(`  to keep this with its proof: ${safe(words.join(" "))}\n`);
}

/** Returns a reason of a deny as text. */
export function describeReason(reason: Reason): string {
  const words: string[] = [reason.code];
  if (reason.relationship_id !== undefined) {
    words.push(
      `relationship ${safe(reason.relationship_id)} (seq=${reason.sequence})`,
    );
  }
  if (reason.requirement !== undefined) {
    const { key, value } = reason.requirement;
    words.push(`for ${key}=${safe(value)}`);
  }
  return words.join(", ");
}

function writeExplanation(call: Output, explained: Explanation): void {
  const { io } = call;
  io.stdout(
    `  judged at ${explained.judged_at}, from ${explained.events} events\n`,
  );
  for (const each of explained.relationships) {
    const id = safe(each.relationship_id);
    io.stdout(
      `  ${id}: ${each.effective_status} (seq=${each.last_sequence})\n`,
    );
    for (const { key, value, met } of each.requirements) {
      io.stdout(
        `    ${met ? "meets" : "does not meet"} ${key}=${safe(value)}\n`,
      );
    }
  }
}
