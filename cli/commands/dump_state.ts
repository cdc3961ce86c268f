import {
  dumpState as dump,
  EFFECTIVE_STATUSES,
  type StateDump,
  stringifyDump,
} from "@sig/core";
import type { Call, Command } from "../command_line/command.ts";
import { safe, safeJson, writeWarnings } from "../command_line/output.ts";
import {
  parseTimeFlags,
  POLICY_FLAGS,
  SOURCE_HELP,
  TIME_FLAGS,
  withSource,
} from "../ask/source_flags.ts";

/** `sig dump-state` */
export const dumpState: Command = {
  name: "dump-state",
  summary: "print what a feed says, relationship by relationship",
  positionals: [{ name: "source", help: SOURCE_HELP }],
  flags: [
    ...TIME_FLAGS,
    {
      name: "subject",
      value: "DID",
      help: "only relationships about this subject",
    },
    {
      name: "status",
      value: "STATUS",
      help: "only relationships that come to this at that time",
      choices: EFFECTIVE_STATUSES,
    },
    ...POLICY_FLAGS,
  ],
  format: "json",
  examples: [
    "sig dump-state acme.example",
    "sig dump-state ./acme.example --as-of 3 --status active",
  ],
  async run(call) {
    const time = parseTimeFlags(call);
    const { verifyIssuer } = await import("@sig/consumer");
    const verified = await withSource(call, call.positionals[0]!, verifyIssuer);
    const found = dump(verified.state, {
      ...time,
      subject: call.text("subject"),
      status: call.text("status"),
      now: call.io.now(),
    });
    writeWarnings(call, verified.warnings);
    if (call.format === "json") {
      call.io.stdout(`${safeJson(stringifyDump(found))}\n`);
    } else writeTable(call, found);
    return 0;
  },
};

function writeTable(call: Call, found: StateDump): void {
  const { io } = call;
  io.stdout(`${safe(found.issuer)}, last sequence ${found.last_sequence}\n`);
  for (const [id, state] of found.by_relationship_id) {
    const roles = state.roles.length > 0 ? ` [${state.roles.join(", ")}]` : "";
    const until = state.valid_until ? ` until ${state.valid_until}` : "";
    io.stdout(
      safe(
        `${state.status}  ${id}  ${state.subject}  ${state.relationship_type}${roles}${until}`,
      ) + "\n",
    );
  }
}
