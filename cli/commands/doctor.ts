import type { Call } from "../command_line/command.ts";
import { source } from "../command_line/values.ts";
import { optional } from "@sig/api/program";
import { type Colour, colour, safe, writeJson } from "../output/write.ts";
import type { Examined } from "../doctor/examine.ts";
import { type Finding, judge } from "../doctor/finding.ts";
import {
  type PolicyValues,
  SOURCE_HELP,
  sourceCommand,
  sourceOptions,
  withSource,
} from "../ask/source_flags.ts";

/** `sig doctor` */
export const doctor = sourceCommand({
  description: `
    Examines documents, keys and feed; of a host also its certificate, headers and
    what else is served; of a directory its permissions. With --against it compares
    with a published copy. Exits 1 if a finding is an error, and 2 if the source
    can't be read. Every finding: docs/reference/findings.md`,
  flags: {
    against: optional(source, `the published copy: ${SOURCE_HELP}`),
  },
  examples: [
    "sig doctor acme.example",
    "sig doctor ./acme.example --against acme.example",
  ],
  async run(call, text) {
    const { parseSource } = await import("@sig/consumer");
    const { examine } = await import("../doctor/examine.ts");
    const source = parseSource(text, sourceOptions(call));
    const examined = await withSource(
      call,
      text,
      (location, options) => examine(call, source, location, options),
    );
    const findings = [...examined.findings, ...await compare(call, examined)];
    report(call, findings);
    return findings.some(({ severity }) => severity === "error") ? 1 : 0;
  },
});

/** Compares with the published copy, which must have the whole history. */
async function compare(
  call: Call<PolicyValues & { readonly against: string | undefined }>,
  { digests, verified }: Examined,
): Promise<readonly Finding[]> {
  const against = call.flags.against;
  if (against === undefined || verified === undefined) return [];
  const { verifyIssuer } = await import("@sig/consumer");
  const { compareFeeds, EventDigests, PUBLISHED_FINDINGS } = await import(
    "../doctor/published.ts"
  );
  const others = new EventDigests();
  const { state: there } = await withSource(
    call,
    against,
    (location, options) =>
      verifyIssuer(location, {
        ...options,
        onEvent: (event) => others.add(event),
      }),
  );
  const first = digests.firstDifference(others);
  return judge(
    PUBLISHED_FINDINGS,
    compareFeeds(verified.state, there, first, against),
  );
}

const COLOURS: { readonly [severity in Finding["severity"]]: Colour } = {
  error: "red",
  warning: "yellow",
  info: "dim",
};

function report(
  call: Pick<Call, "format" | "io">,
  findings: readonly Finding[],
): void {
  const { io } = call;
  if (call.format === "json") return writeJson(io, { findings });
  if (findings.length === 0) {
    return io.stdout(`${colour(io, "stdout", "green", "healthy")}\n`);
  }
  for (const { code, severity, what, why, mend, where } of findings) {
    const label = colour(io, "stdout", COLOURS[severity], severity);
    io.stdout(
      `${label}: ${safe(code)}: ${safe(what)} (${safe(where)})\n` +
        `  why: ${safe(why)}\n  fix: ${safe(mend)}\n`,
    );
  }
}
