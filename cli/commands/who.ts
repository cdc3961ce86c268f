import { typeFlag } from "../issue/relationship_flags.ts";
import type { Command } from "../command_line/command.ts";
import { writeWarnings } from "../command_line/output.ts";
import { NAMES_FLAG } from "../people/names.ts";
import {
  namesOf,
  parseTimeFlags,
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_WORD,
  sourceOf,
  stateOf,
  TIME_FLAGS,
} from "../ask/source_flags.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig who` */
export const who: Command = {
  name: "who",
  summary: "list who is in a relationship, and until when",
  description:
    "Only relationships that are effective: neither ended, nor expired, nor yet to\nbegin. Answers who may do something with --role, now or at another time.",
  positionals: [SOURCE_WORD],
  flags: [
    SOURCE_FLAG,
    { name: "role", value: "ROLE", help: "only those with this role" },
    typeFlag("only relationships of this type"),
    ...TIME_FLAGS,
    NAMES_FLAG,
    ...PIN_FLAGS,
    ...POLICY_FLAGS,
  ],
  examples: [
    "sig who acme.example --role refund",
    "sig who ./acme.example --type contractor --at 2026-06-30T00:00:00Z --format json",
  ],
  async run(call) {
    const time = parseTimeFlags(call);
    const source = sourceOf(call);
    const [role, type] = [call.text("role"), call.text("type")];
    const names = await namesOf(call, source);
    const { listActive, writeActive } = await import("../ask/list_active.ts");
    const read = await stateOf(call, source, time);
    const found = listActive(read.state, time, call.io.now()).filter((each) =>
      (role === undefined || each.roles.includes(role)) &&
      (type === undefined || each.relationship_type === type)
    );
    writeWarnings(call, read.warnings, read.source);
    writeActive(call, found, names);
    return 0;
  },
};
