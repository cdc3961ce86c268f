import {
  type CheckAnswer,
  type Explanation,
  isDid,
  MAX_ANSWER_WARNINGS,
  quote,
  type Reason,
} from "@sig/core";
import type { Call, Command } from "../command_line/command.ts";
import {
  colour,
  safe,
  warn,
  writeJson,
  writeWarnings,
} from "../command_line/output.ts";
import {
  parseTimeFlags,
  POLICY_FLAGS,
  SOURCE_HELP,
  TIME_FLAGS,
  withMemory,
} from "../ask/source_flags.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig check` */
export const check: Command = {
  name: "check",
  aliases: ["allow"],
  summary: "ask whether a subject may do something",
  description:
    "Exits 0 on allow, 1 on deny, and 2 when there is no answer, so that\n`sig check … && ./deploy` deploys on allow only.",
  flags: [
    { name: "sig", value: "SOURCE", help: SOURCE_HELP, required: true },
    { name: "subject", value: "DID", help: "who", required: true },
    {
      name: "require",
      value: "KEY=VALUE",
      help:
        "relationship=TYPE, role=NAME or relationship_id=ID; one relationship must meet all",
      repeat: true,
    },
    ...TIME_FLAGS,
    { name: "explain", help: "show how each relationship was judged" },
    ...PIN_FLAGS,
    ...POLICY_FLAGS,
  ],
  format: "json",
  examples: [
    "sig check --sig acme.example --subject did:web:alice.example --require relationship=employee --require role=deploy",
    "sig check --sig ./acme.example --subject did:web:alice.example --require role=deploy --at 2026-02-10T12:00:00Z --explain --format text",
  ],
  async run(call) {
    const question = {
      subject: call.text("subject")!,
      require: call.texts("require"),
      ...parseTimeFlags(call),
      explain: call.on("explain"),
    };
    const { checkIssuer } = await import("@sig/consumer");
    const { result, warnings } = await withMemory(call, call.text("sig")!, {
      remembered: (consumer, name) => consumer.check(name, question),
      plain: (location, options, { maxAgeMs }) =>
        checkIssuer(location, question, {
          ...options,
          maxAgeSeconds: maxAgeMs / 1000,
        }),
    });
    const answer = {
      ...result,
      warnings: [...warnings, ...result.warnings].slice(0, MAX_ANSWER_WARNINGS),
    };
    if (call.format === "json") writeJson(call.io, answer);
    else writeAnswer(call, answer);
    warnOfWord(call, answer);
    return answer.decision === "allow" ? 0 : 1;
  },
};

/** A misspelt subject is denied as a stranger is: nothing else would tell. */
function warnOfWord(call: Call, answer: CheckAnswer): void {
  const isStranger = answer.reasons.some(({ code }) =>
    code === "no_relationship"
  );
  if (!isStranger || isDid(answer.subject)) return;
  warn(
    call,
    `the feed has never heard of ${
      quote(answer.subject)
    }, which is no DID: did you mean did:web:${answer.subject}?`,
  );
}

function writeAnswer(call: Call, answer: CheckAnswer): void {
  const { io } = call;
  writeWarnings(call, answer.warnings);
  const allow = answer.decision === "allow";
  const word = colour(io, "stdout", allow ? "green" : "red", answer.decision);
  const asked = answer.requirements.map(({ key, value }) => `${key}=${value}`);
  io.stdout(`${word}  ${safe(`${answer.subject}  ${asked.join(" ")}`)}\n`);
  if (answer.matched_relationship_id !== null) {
    io.stdout(`  by relationship ${safe(answer.matched_relationship_id)}\n`);
  }
  for (const reason of answer.reasons) io.stdout(`  ${describe(reason)}\n`);
  if (!allow && io.isTerminal("stdout")) {
    io.stdout(`  next: ${safe(nextStep(call, answer))}\n`);
  }
  if (answer.explain) writeExplanation(call, answer.explain);
}

/** What shows why, to a person who wonders. */
function nextStep(call: Call, { reasons, subject }: CheckAnswer): string {
  const source = call.text("sig")!;
  return reasons.some(({ code }) => code === "no_relationship")
    ? `sig who ${source} lists whom the issuer knows`
    : `sig log ${source} --subject ${subject} shows what the issuer said`;
}

function describe(reason: Reason): string {
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

function writeExplanation(call: Call, explained: Explanation): void {
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
