import {
  check,
  type CheckResult,
  escapeInvisible,
  type FeedState,
  isSigError,
  parseRequirements,
  SigError,
} from "@sig/core";
import { isObject, quote, suggest } from "@sig/core/internal";
import { optional, parseYaml, usageError } from "@sig/api/program";
import { isSshKey, jwkToDidKey, sshKeyToJwk } from "@sig/jose/keys";
import { type Call, typedCommand } from "../command_line/command.ts";
import { mainSource } from "../command_line/values.ts";
import { colour, safe, writeJson } from "../output/write.ts";
import {
  POLICY_FLAGS,
  SOURCE_HELP,
  verifySource,
} from "../ask/source_flags.ts";
import { readInput } from "../terminal/read_input.ts";

/** Maximum size of a case file in bytes. */
const MAX_CASES_BYTES = 16 * 1024 * 1024;

/** One question and its expected answer. */
interface ExpectedDecision {
  /** Name from the file (default: subject and requirements). */
  readonly name: string;
  readonly subject: string;
  readonly require: readonly string[];
  readonly at?: string;
  readonly as_of?: string;
  readonly expect: "allow" | "deny";
  /** Expected codes of a deny, in any order; undefined accepts any. */
  readonly reasons?: readonly string[];
}

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
    sig: optional(mainSource, `instead of the one in the file: ${SOURCE_HELP}`),
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
    const file = await parseFile(decode(bytes));
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
    throw notCases("the file is not UTF-8", "Save it as UTF-8.");
  }
}

const isText = (value: unknown) => typeof value === "string";
const areTexts = (value: unknown) =>
  Array.isArray(value) && value.every(isText);

/** The members of a case: whether a value is valid, and else what is wrong. */
const CASE_MEMBERS: {
  readonly [name: string]: readonly [(value: unknown) => boolean, string];
} = {
  subject: [
    (value) => isText(value) && value !== "",
    " must have a subject",
  ],
  require: [
    (value) => areTexts(value) && (value as unknown[]).length > 0,
    " must have require, a list such as [role=deploy]",
  ],
  expect: [
    (value) => value === "allow" || value === "deny",
    " must expect allow or deny",
  ],
  name: [(value = "") => isText(value), ": name must be text"],
  at: [(value = "") => isText(value), ": at must be a timestamp"],
  as_of: [
    (value = 0) => isText(value) || typeof value === "number",
    ": as_of must be a sequence or a timestamp",
  ],
  reasons: [
    (value = []) => areTexts(value),
    ": reasons must be a list of codes",
  ],
};

/**
 * Parses a file of cases. Rejects unknown members: a case with a misspelt
 * member would test something else.
 *
 * @throws {SigError} `invalid_request`, which names the wrong case.
 */
async function parseFile(text: string) {
  const file = await parseYaml(text, (why) => notCases(`it ${why}`));
  if (!isObject(file)) throw notCases("it must be an object with cases");
  requireKnown(file, ["source", "cases"], "the file");
  const { source, cases } = file;
  if (source !== undefined && typeof source !== "string") {
    throw notCases("source must be text");
  }
  if (!Array.isArray(cases) || cases.length === 0) {
    // A file without cases must not count as a success.
    throw notCases("cases must be a list of at least one case");
  }
  return { source, cases: cases.map(parseCase) };
}

function parseCase(value: unknown, index: number): ExpectedDecision {
  const place = `case ${index + 1}`;
  if (!isObject(value)) throw notCases(`${place} must be an object`);
  requireKnown(value, Object.keys(CASE_MEMBERS), place);
  for (const [name, [isValid, wrong]] of Object.entries(CASE_MEMBERS)) {
    if (!isValid(value[name])) throw notCases(`${place}${wrong}`);
  }
  const parsed = value as unknown as ExpectedDecision;
  const { as_of, expect, name, reasons, require, subject } = parsed;
  if (reasons !== undefined && expect === "allow") {
    throw notCases(`${place}: an allow has no reasons`);
  }
  return {
    ...parsed,
    name: name ?? `${subject} ${require.join(" ")}`,
    subject: isSshKey(subject) ? jwkToDidKey(sshKeyToJwk(subject)) : subject,
    ...(as_of === undefined ? {} : { as_of: `${as_of}` }),
  };
}

function requireKnown(
  value: object,
  known: readonly string[],
  place: string,
): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = suggest(unknown, known);
  throw notCases(
    `${place} has the unknown member ${quote(unknown)}`,
    near ? `Did you mean ${near}?` : `Members are ${known.join(", ")}.`,
  );
}

function notCases(why: string, hint?: string): SigError {
  return usageError(`cases can't be read: ${why}`, hint ? { hint } : {});
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
