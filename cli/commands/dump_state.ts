import { oneOf, optional } from "@sig/api/flags";
import {
  dumpState as dump,
  EFFECTIVE_STATUSES,
  type StateDump,
  stringifyDump,
} from "@sig/core";
import { typedCommand } from "../command_line/command.ts";
import { did } from "../command_line/values.ts";
import { writeTable } from "../output/table.ts";
import {
  type Output,
  safe,
  safeJson,
  statusColour,
  toSecond,
  writeWarnings,
} from "../output/write.ts";
import {
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_WORD,
  sourceOf,
  tellStranger,
  TIME_FLAGS,
  timeOf,
  withMemory,
} from "../ask/source_flags.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig dump-state` */
export const dumpState = typedCommand({
  positionals: [SOURCE_WORD],
  flags: {
    ...SOURCE_FLAG,
    ...TIME_FLAGS,
    subject: optional(did, "only relationships about this subject"),
    status: optional(
      oneOf(...EFFECTIVE_STATUSES),
      "only relationships with this effective status",
      { placeholder: "STATUS" },
    ),
    ...PIN_FLAGS,
    ...POLICY_FLAGS,
  },
  format: "json",
  examples: [
    "sig dump-state acme.example",
    "sig dump-state ./acme.example --as-of 3 --status active",
  ],
  async run(call) {
    const { status, subject } = call.flags;
    const time = timeOf(call.flags);
    const { asOf } = time;
    const { verifyIssuer } = await import("@sig/consumer");
    const { source, state, warnings } = await withMemory(call, sourceOf(call), {
      remembered: async (consumer, name) =>
        (await consumer.observe(name, { asOf })).verified,
      plain: verifyIssuer,
    });
    const found = dump(state, {
      ...time,
      subject,
      status,
      now: call.io.now(),
    });
    writeWarnings(call, warnings, source);
    if (call.format === "json") {
      call.io.stdout(`${safeJson(stringifyDump(found))}\n`);
    } else writeState(call, found);
    const isStranger = subject !== undefined && asOf === undefined &&
      state.history.relationshipsOf(subject).size === 0;
    if (isStranger) tellStranger(call, { subject });
    return 0;
  },
});

function writeState(call: Output, found: StateDump): void {
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
