import {
  dumpState as dump,
  EFFECTIVE_STATUSES,
  type StateDump,
  stringifyDump,
} from "@sig/core";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { writeTable } from "../output/table.ts";
import {
  safe,
  safeJson,
  statusColour,
  toSecond,
  writeWarnings,
} from "../output/write.ts";
import {
  parseTimeFlags,
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_WORD,
  sourceOf,
  stateOf,
  tellStranger,
  TIME_FLAGS,
} from "../ask/source_flags.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig dump-state` */
export const dumpState: CommandSpec = {
  positionals: [SOURCE_WORD],
  flags: [
    SOURCE_FLAG,
    ...TIME_FLAGS,
    {
      name: "subject",
      value: "DID",
      help: "only relationships about this subject",
    },
    {
      name: "status",
      value: "STATUS",
      help: "only relationships with this effective status",
      choices: EFFECTIVE_STATUSES,
    },
    ...PIN_FLAGS,
    ...POLICY_FLAGS,
  ],
  format: "json",
  examples: [
    "sig dump-state acme.example",
    "sig dump-state ./acme.example --as-of 3 --status active",
  ],
  async run(call) {
    const time = parseTimeFlags(call);
    const subject = call.text("subject");
    const read = await stateOf(call, sourceOf(call), time);
    const { state } = read;
    const found = dump(state, {
      ...time,
      subject,
      status: call.text("status"),
      now: call.io.now(),
    });
    writeWarnings(call, read.warnings, read.source);
    if (call.format === "json") {
      call.io.stdout(`${safeJson(stringifyDump(found))}\n`);
    } else writeState(call, found);
    const isStranger = subject !== undefined && time.asOf === undefined &&
      state.history.relationshipsOf(subject).size === 0;
    if (isStranger) tellStranger(call, { subject });
    return 0;
  },
};

function writeState(call: Call, found: StateDump): void {
  const { issuer, last_sequence, by_relationship_id, statuses } = found;
  call.io.stdout(`${safe(issuer)}, last sequence ${last_sequence}\n`);
  writeTable(
    call,
    [
      { title: "status", colour: statusColour },
      { title: "relationship" },
      { title: "subject" },
      { title: "type" },
      { title: "roles" },
      { title: "from" },
      { title: "until" },
      { title: "ended" },
    ],
    [...by_relationship_id].map(([id, state]) => [
      statuses.get(id)!,
      id,
      state.subject,
      state.relationship_type,
      state.roles.join(", "),
      toSecond(state.valid_from),
      toSecond(state.valid_until),
      toSecond(state.revoked_effective_at ?? null),
    ]),
  );
}
