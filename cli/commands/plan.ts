import { REQUIRED_DIR_FLAG } from "../issue/relationship_flags.ts";
import type { Command } from "../command_line/command.ts";
import { warn, writeJson } from "../command_line/output.ts";
import { NAMES_FLAG, readNames } from "../people/names.ts";
import { LIST_FLAGS, planOptions, readList } from "../people/people_flags.ts";
import { doubtsAboutPlan } from "../issue/change_notices.ts";

/** `sig plan` */
export const plan: Command = {
  name: "plan",
  summary: "compare a list of people with the feed",
  description:
    "Shows what sig apply would append so that the feed says what the list says.\nOnly what is listed is managed. An empty cell means none; what has no column\nis kept. Exits 0 when there is nothing to do, 1 when there is, 2 on an error.\n\nColumns: subject and type; as wished roles (separated by ;), valid_from,\nvalid_until, title, department, label, relationship_id, metadata.",
  flags: [
    REQUIRED_DIR_FLAG,
    ...LIST_FLAGS,
    NAMES_FLAG,
    {
      name: "out",
      value: "FILE",
      help: "write the plan there too, for sig apply --plan",
    },
  ],
  examples: [
    "sig plan --dir acme.example --from people.csv",
    "sig plan --dir acme.example --from contractors.csv --scope type=contractor --prune --out plan.json",
  ],
  async run(call) {
    const { bytes, format } = await readList(call);
    const options = planOptions(call);
    const names = await readNames(call, call.text("dir"));
    const { readPeople } = await import("../people/read_people.ts");
    const people = readPeople(bytes, format);
    const { planChanges } = await import("@sig/issuer");
    const { openIssuerDir } = await import("../issue/issuer_dir.ts");
    await using issuer = await openIssuerDir(call);
    const state = await issuer.published();
    const now = call.io.now();
    const made = planChanges(state, people, { ...options, now });
    const out = call.text("out");
    if (out !== undefined) {
      const text = JSON.stringify(made, null, 2);
      await call.io.createPrivateFile(out, `${text}\n`);
    }
    if (call.format === "json") writeJson(call.io, made);
    else {
      const { writePlan } = await import("../people/write_plan.ts");
      writePlan(call, made, names);
    }
    // At the end of a long plan, where it is read.
    for (const doubt of doubtsAboutPlan(made, state, now)) warn(call, doubt);
    return made.changes.length === 0 ? 0 : 1;
  },
};
