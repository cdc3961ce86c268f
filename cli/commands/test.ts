import {
  check,
  type CheckResult,
  escapeInvisible,
  type FeedState,
  isSigError,
  parseRequirements,
  SigError,
} from "@sig/core";
import { optional, usageError } from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { source } from "../command_line/values.ts";
import { colour, safe, writeJson } from "../output/write.ts";
import type { ExpectedDecision } from "../ask/expected_decisions.ts";
import {
  AS_SOURCE,
  POLICY_FLAGS,
  SOURCE_HELP,
  verifySource,
} from "../ask/source_flags.ts";
import { readInput } from "../terminal/read_input.ts";

/** Maximum size of a case file in bytes. */
const MAX_CASES_BYTES = 16 * 1024 * 1024;

/** The result of a case. */
interface Outcome {
  readonly expected: ExpectedDecision;
  readonly got: CheckResult;
  readonly holds: boolean;
}

/** `sig test` */
export const test = typedCommand({
  description: `
    CASES is YAML (or JSON):
      source: ./acme.example
      cases:
        - name: alice may deploy
          subject: did:web:alice.example
          require: [relationship=employee, role=deploy]
          expect: allow
        - subject: did:web:bob.example
          require: [role=deploy]
          at: 2026-02-01T00:00:00Z
          expect: deny
          reasons: [revoked]
    The source is resolved like --sig, from the working directory. Exits with 0 if
    all cases pass, 1 if one fails, and 2 on an error.`,
  positionals: [{
    name: "cases",
    kind: "file",
    help: "YAML file of test cases; - is standard input",
  }],
  flags: {
    sig: optional(
      source,
      `instead of the one in the file: ${SOURCE_HELP}`,
      AS_SOURCE,
    ),
    ...POLICY_FLAGS,
  },
  formats: ["junit"],
  examples: [
    "sig test cases.yaml",
    "sig test cases.yaml --sig acme.example --format junit > results.xml",
  ],
  async run(call) {
    const { io } = call;
    const path = call.positionals[0]!;
    const bytes = await readInput(io, path, MAX_CASES_BYTES);
    const { parseExpectedDecisions } = await import(
      "../ask/expected_decisions.ts"
    );
    const file = await parseExpectedDecisions(decode(bytes));
    const source = call.flags.sig ?? file.source;
    if (source === undefined) {
      throw usageError("no source was given", {
        hint: "Write source: into the file, or give --sig.",
      });
    }
    const { state } = await verifySource(call, source);
    const now = io.now();
    const outcomes = file.cases.map((expected) => judge(state, expected, now));
    report(call, state.issuer, outcomes);
    return outcomes.every(({ holds }) => holds) ? 0 : 1;
  },
});

/**
 * Decodes strict UTF-8: nobody has a role with a replacement character, so a
 * case that expects deny would pass.
 */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageError("cases can't be read: the file is not UTF-8", {
      hint: "Save it as UTF-8.",
    });
  }
}

/** Evaluates a case. An invalid question is an error, not a deny. */
function judge(
  state: FeedState,
  expected: ExpectedDecision,
  now: Date,
): Outcome {
  const { subject, at, as_of: asOf, name, reasons: wanted } = expected;
  let got: CheckResult;
  try {
    const require = parseRequirements(expected.require);
    got = check(state, { subject, require, at, asOf, now, explain: true });
  } catch (error) {
    if (!isSigError(error)) throw error;
    const { code, message, context } = error;
    const reason = `case ${name}: ${message}`;
    throw new SigError(code, { reason, context, cause: error });
  }
  const codes = new Set<string>(got.reasons.map(({ code }) => code));
  const isAsWanted = wanted === undefined ||
    codes.symmetricDifference(new Set(wanted)).size === 0;
  const holds = got.decision === expected.expect && isAsWanted;
  return { expected, got, holds };
}

function report(
  call: Pick<Call, "format" | "io" | "ownFormat">,
  issuer: string,
  outcomes: readonly Outcome[],
): void {
  const { io } = call;
  const failed = outcomes.filter(({ holds }) => !holds).length;
  if (call.ownFormat === "junit") {
    return io.stdout(junitXml(issuer, outcomes, failed));
  }
  if (call.format === "json") {
    return writeJson(io, {
      issuer,
      passed: outcomes.length - failed,
      failed,
      cases: outcomes.map(({ expected, got, holds }) => ({
        name: expected.name,
        passed: holds,
        expected: {
          decision: expected.expect,
          reasons: expected.reasons ?? null,
        },
        got: {
          decision: got.decision,
          reasons: got.reasons,
          matched_relationship_id: got.matched_relationship_id,
        },
      })),
    });
  }
  for (const outcome of outcomes) {
    const { expected, got, holds } = outcome;
    const word = holds
      ? colour(io, "stdout", "green", "ok")
      : colour(io, "stdout", "red", "failed");
    io.stdout(`${word}  ${safe(expected.name)}\n`);
    if (holds) continue;
    io.stdout(`  ${safe(difference(outcome))}\n`);
    for (const each of got.explain?.relationships ?? []) {
      const unmet = each.requirements.filter(({ met }) => !met)
        .map(({ key, value }) => `${key}=${value}`);
      const why = unmet.length === 0
        ? "meets every requirement"
        : `does not meet ${unmet.join(", ")}`;
      io.stdout(
        `  ${
          safe(`${each.relationship_id}: ${each.effective_status}, ${why}`)
        }\n`,
      );
    }
  }
  io.stdout(
    `${outcomes.length - failed} of ${outcomes.length} cases hold\n`,
  );
}

/** Describes the expected and the actual decision. */
function difference({ expected, got }: Outcome): string {
  const say = (decision: string, codes: readonly string[]) =>
    codes.length === 0 ? decision : `${decision} (${codes.join(", ")})`;
  return `expected ${say(expected.expect, expected.reasons ?? [])}, got ${
    say(got.decision, got.reasons.map(({ code }) => code))
  }`;
}

/** Formats JUnit XML, without times, so that equal results have equal bytes. */
function junitXml(
  suite: string,
  outcomes: readonly Outcome[],
  failed: number,
): string {
  const counts = `tests="${outcomes.length}" failures="${failed}"`;
  const cases = outcomes.map((outcome) => {
    const name = xml(outcome.expected.name);
    const head = `    <testcase classname="${xml(suite)}" name="${name}"`;
    if (outcome.holds) return `${head}/>`;
    const failure = `<failure message="${xml(difference(outcome))}"/>`;
    return `${head}>\n      ${failure}\n    </testcase>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${xml(suite)}" ${counts} errors="0">
${cases.join("\n")}
  </testsuite>
</testsuites>
`;
}

/**
 * Escapes text for XML. Two code points are not allowed even as references (XML
 * 1.0 §2.2).
 */
function xml(text: string): string {
  return escapeInvisible(text)
    .replaceAll(
      /[\ufffe\uffff]/g,
      (found) => `\\u${found.charCodeAt(0).toString(16)}`,
    )
    .replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
