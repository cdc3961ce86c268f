import {
  addSeconds,
  compareInstants,
  instantOf,
  parseTimestamp,
} from "@sig/core";
import { parseDuration } from "@sig/api/flags";
import type { Command } from "../command_line/command.ts";
import { writeWarnings } from "../command_line/output.ts";
import { NAMES_FLAG } from "../people/names.ts";
import {
  namesOf,
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_WORD,
  sourceOf,
  withSource,
} from "../ask/source_flags.ts";

/** `sig expiring` */
export const expiring: Command = {
  name: "expiring",
  summary: "list relationships that end by themselves soon",
  positionals: [SOURCE_WORD],
  flags: [
    SOURCE_FLAG,
    {
      name: "within",
      value: "DURATION",
      help: "how soon, from now on, such as 30d",
      required: true,
    },
    NAMES_FLAG,
    ...POLICY_FLAGS,
  ],
  examples: [
    "sig expiring acme.example --within 30d",
    "sig expiring ./acme.example --within 12h --format json",
  ],
  async run(call) {
    const within = parseDuration("--within", call.text("within"))!;
    const source = sourceOf(call);
    const names = await namesOf(call, source);
    const { verifyIssuer } = await import("@sig/consumer");
    const { listActive, writeActive } = await import("../ask/list_active.ts");
    const verified = await withSource(call, source, verifyIssuer);
    const now = call.io.now();
    const last = addSeconds(instantOf(now), Math.ceil(within / 1000));
    const found = listActive(verified.state, {}, now).filter(
      ({ valid_until }) => {
        const end = parseTimestamp(valid_until);
        return end !== undefined && compareInstants(end, last) <= 0;
      },
    );
    writeWarnings(call, verified.warnings, verified.source);
    writeActive(call, found, names);
    return 0;
  },
};
