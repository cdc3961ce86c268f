import type { ReportedFault, VerifyReport } from "@sig/consumer";
import {
  colour,
  counted,
  groupByLines,
  type Output,
  placeOf,
  safe,
  writeJson,
  writeWarnings,
} from "../output/write.ts";
import { sourceCommand, withMemory } from "../ask/source_flags.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig verify` */
export const verify = sourceCommand({
  description: `
    Exits with 0 if everything is valid, 1 if something published is invalid, and 2
    on any other error.`,
  flags: PIN_FLAGS,
  examples: [
    "sig verify acme.example",
    "sig verify ./acme.example --format json",
    "sig verify http://127.0.0.1:8080/.well-known/sig.json --allow-insecure",
  ],
  async run(call, source) {
    const report = await withMemory(call, source, (from) => from.report());
    if (call.format === "json") writeJson(call.io, report);
    else writeReport(call, report);
    return report.valid ? 0 : 1;
  },
});

function writeReport(call: Output, report: VerifyReport): void {
  const { io } = call;
  writeWarnings(call, report.warnings);
  if (report.valid) {
    const events = counted(report.verified_events, "event");
    io.stdout(
      `${colour(io, "stdout", "green", "valid")}: ${events} of ${
        safe(report.issuer)
      }, last sequence ${report.last_sequence} (${
        report.source === "http" ? "http, origin not proven" : report.source
      })\n`,
    );
    return;
  }
  const label = colour(io, "stdout", "red", "invalid");
  const kindOf = ({ code, kid }: ReportedFault) => `${code} ${kid ?? ""}`;
  for (const { first, lines } of groupByLines(report.errors, kindOf)) {
    const rest = lines.startsWith("lines") ? ` (${lines})` : "";
    io.stdout(`${label}: ${describe(first)}${rest}\n`);
  }
}

function describe(fault: ReportedFault): string {
  const place = placeOf({ ...fault });
  return `${fault.code}${place === "" ? "" : ` at ${place}`}: ${
    safe(fault.detail)
  }`;
}
