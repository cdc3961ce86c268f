import { formatInstant, instantOf, isSigError } from "@sig/core";
import type { Evidence, VerifiedEvidence } from "@sig/consumer";
import { file, optional, required, usageError } from "@sig/api/program";
import { typedCommand } from "../command_line/command.ts";
import {
  mainSource,
  person,
  sequence,
  textOf,
  timestamp,
} from "../command_line/values.ts";
import { writeLines } from "../output/fields.ts";
import {
  colour,
  type Output,
  safe,
  writeJson,
  writeResult,
} from "../output/write.ts";
import {
  askEachKey,
  INSECURE_FLAG,
  SOURCE_HELP,
  withSource,
} from "../ask/source_flags.ts";
import { readInput } from "../terminal/read_input.ts";
import { REQUIRE_FLAG } from "./check.ts";

/** `sig evidence make` */
export const evidenceMake = typedCommand({
  description: `
    Writes the question, the answer as of the issuer's checkpoint, and its proof to a
    file that can be verified offline. Exits with 0 on allow, 1 on deny, and 2 on an
    error.`,
  subjects: "each",
  flags: {
    sig: required(mainSource, SOURCE_HELP),
    subject: required(
      person,
      "subject of the question, or a person (id or name)",
    ),
    ...REQUIRE_FLAG,
    at: optional(timestamp, "as it was true at that time (default: now)"),
    "as-of": optional(
      sequence,
      "as it was known after that event (default: the checkpoint's last)",
    ),
    out: optional(file, "a new file, instead of standard output"),
    ...INSECURE_FLAG,
  },
  examples: [
    "sig evidence make --sig acme.example --subject did:web:alice.example --require role=deploy --out alice.json",
  ],
  async run(call) {
    const { io, flags: { sig, require, at, out } } = call;
    const { makeEvidence } = await import("@sig/consumer");
    const instant = at?.text ?? formatInstant(instantOf(io.now()));
    const evidence = await askEachKey(
      call,
      (subject) =>
        withSource(call, sig, (location, options) => {
          const as_of = call.flags["as-of"];
          const question = {
            subject,
            require,
            at: instant,
            ...as_of !== undefined && { as_of },
          };
          return makeEvidence(location, question, options);
        }),
      ({ answer }) => answer.decision === "allow",
    );
    if (out === undefined) writeJson(io, evidence);
    else {
      await io.createFile(out, `${JSON.stringify(evidence)}\n`);
      const { answer, question: { subject } } = evidence;
      const said = `${answer.decision}  ${safe(subject)}, see ${safe(out)}\n`;
      writeResult(call, { out, answer }, said);
    }
    return evidence.answer.decision === "allow" ? 0 : 1;
  },
});

/** `sig evidence verify` */
export const evidenceVerify = typedCommand({
  description: `
    Verifies that a trusted key has signed the checkpoint, and that path and lines
    lead from there to the answer. Without --trust, the issuer's keys are
    fetched; the output names the key that signed, for --trust. Exits with 0 if
    the evidence is sound, whatever its answer, 1 if it is faulty, and 2 on an error.
    Evidence never shows that nothing came later.`,
  positionals: [{
    name: "file",
    help: "the evidence; - is standard input",
    kind: "file",
  }],
  flags: {
    trust: optional(
      textOf("VKEY"),
      "the issuer's key, as <name>+<key ID>+<base64>; nothing is fetched",
    ),
    ...INSECURE_FLAG,
  },
  examples: [
    "sig evidence verify alice.json",
    "sig evidence verify alice.json --trust acme.example/.well-known/sig+7d1e9e5f+AQ…",
  ],
  async run(call) {
    const { io, flags } = call;
    const { fetchTrustedKeys, verifyEvidence } = await import("@sig/consumer");
    const { locateIssuer, MAX_EVIDENCE_BYTES, originOf } = await import(
      "@sig/consumer/internal"
    );
    // One byte more, so that a longer file is reported as invalid evidence.
    const bytes = await readInput(
      io,
      call.positionals[0]!,
      MAX_EVIDENCE_BYTES + 1,
    );
    const { trust, "allow-insecure": allowPrivate } = flags;
    const trusted = trust === undefined ? undefined : await readKey(trust);
    try {
      const verified = await verifyEvidence(bytes, async (issuer) => {
        if (trusted === undefined) {
          return await fetchTrustedKeys(locateIssuer(issuer, { allowPrivate }));
        }
        return trusted.name === originOf(issuer) ? [trusted.key] : [];
      });
      if (call.format === "json") writeJson(io, jsonOf(verified));
      else write(call, verified);
    } catch (error) {
      if (!isSigError(error, "invalid_evidence")) throw error;
      const { code, message: detail } = error;
      const word = colour(io, "stdout", "red", "faulty");
      const value = { sound: false, error: { code, detail } };
      writeResult(call, value, `${word}: ${safe(detail)}\n`);
      return 1;
    }
  },
});

async function readKey(text: string) {
  const { parseVerifierKey } = await import("@sig/jose/proofs");
  const key = await parseVerifierKey(text);
  if (key.type === "note") return key;
  throw usageError("--trust must be a key that signs, not one that cosigns", {
    flag: "--trust",
  });
}

function jsonOf(verified: VerifiedEvidence) {
  const { evidence, kid, vkey, signed_at } = verified;
  const { issuer, question, answer } = evidence;
  return {
    sound: true,
    issuer,
    question,
    answer,
    kid,
    vkey,
    signed_at,
    note: ISSUERS_OWN,
  };
}

/** No proof shows that an event was published at the time that it states. */
const ISSUERS_OWN = "dates are the issuer's own statements";

function write({ io }: Output, verified: VerifiedEvidence): void {
  const { evidence, kid, vkey, signed_at } = verified;
  const { issuer, question, answer, lines } = evidence;
  const { decision, as_of, reasons }: Evidence["answer"] = answer;
  io.stdout(`${colour(io, "stdout", "green", "sound")}: ${decision}\n`);
  writeLines(io, [
    ["issuer", issuer],
    ["subject", question.subject],
    ["required", question.require.join(", ")],
    ["at", question.at],
    ...reasons.map(({ code }) => ["reason", code] as const),
    ["lines", `${lines.length}, of ${as_of} events`],
    ["checkpoint", `signed by ${kid}, ${signed_at ?? "without a time"}`],
    ["key", vkey],
    ["dates", ISSUERS_OWN],
  ], 12);
}
