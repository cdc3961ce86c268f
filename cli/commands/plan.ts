import { RELATIONSHIP_TYPES, type RelationshipType } from "@sig/core";
import type { Plan, PublishedState } from "@sig/issuer";
import type { PersonKey } from "@sig/issuer/people";
import {
  file,
  many,
  oneOf,
  optional,
  toggle,
  usageError,
  type Values,
  type ValueType,
} from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { input, people } from "../command_line/values.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { doubtsAboutPlan } from "../issue/change_notices.ts";
import { DIR_FLAG, REASON_CODE_FLAG, SIGNING_FLAGS } from "../issue/flags.ts";
import { writePlan } from "../output/changes.ts";
import { counted, warn, writeJson } from "../output/write.ts";
import {
  PEOPLE_FLAG,
  readPeopleFile,
  savePeopleFile,
} from "../people/people.ts";
import { readInput, readJsonInput } from "../terminal/read_input.ts";

/** Maximum size of a list in bytes; 10,000 people take about 2 MB. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Maximum size of a saved plan in bytes; 10,000 changes take about 6 MB. */
const MAX_PLAN_BYTES = 256 * 1024 * 1024;

/** `--scope`, the relationships that a list manages. */
const scope: ValueType<RelationshipType> = {
  placeholder: "type=TYPE",
  parse(text, flag) {
    const found = RELATIONSHIP_TYPES.find((type) => text === `type=${type}`);
    if (found !== undefined) return found;
    throw usageError(`${flag} must be type=TYPE`, {
      flag,
      hint: `TYPE is one of ${RELATIONSHIP_TYPES.join(", ")}.`,
    });
  },
};

/** Flags that select a list and its scope. */
const LIST_FLAGS = {
  from: optional(input, "list of people; - is standard input"),
  input: optional(
    oneOf("csv", "json", "yaml"),
    "format of the list (default: by the name's ending)",
  ),
  scope: many(scope, "manage relationships of these types only"),
  prune: toggle("end active relationships that are not listed"),
};

type ListCall = Call<Values<typeof LIST_FLAGS>>;

/** `sig plan` */
export const plan = typedCommand({
  description:
    "Shows what sig apply would append to bring the feed into line with the list.\nOnly what is listed is managed. An empty cell means none; a field without a\ncolumn is kept. If the only row of a person has another type than the only\nrelationship, it replaces that one. Exits 0 if there is nothing to do, 1 for\nchanges, 2 on an error.\n\nColumns: subject and type; optionally roles (separated by ;), valid_from,\nvalid_until, title, department, label, relationship_id, metadata.\nThe values of a column name are local: sig apply adds them to DIR/.sig/people.csv.",
  flags: {
    ...DIR_FLAG,
    ...LIST_FLAGS,
    ...PEOPLE_FLAG,
    out: optional(file, "write the plan there too, for sig apply --plan"),
  },
  examples: [
    "sig plan --dir acme.example --from people.csv",
    "sig plan --dir acme.example --from contractors.csv --scope type=contractor --prune --out plan.json",
  ],
  async run(call) {
    const { keys, planOf } = await readList(call);
    const people = (await readPeopleFile(call)).with(keys);
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    const { withPeople } = await import("@sig/issuer/internal");
    await using issuer = await openIssuerDir(call);
    const state = withPeople(await issuer.published(), people.keys.values());
    const now = call.io.now();
    const made = await planOf(state, now);
    const out = call.flags.out;
    if (out !== undefined) {
      const text = JSON.stringify(made, null, 2);
      await call.io.createPrivateFile(out, `${text}\n`);
    }
    const doubts = doubtsAboutPlan(made, state, now);
    const found = doubts.length === 0 ? {} : { doubts };
    if (call.format === "json") writeJson(call.io, { ...made, ...found });
    else writePlan(call, made, state.people);
    // Warnings are at the end of a long plan, where they are visible.
    for (const doubt of doubts) warn(call, doubt);
    return made.changes.length === 0 ? 0 : 1;
  },
});

const APPLY_FLAGS = {
  ...DIR_FLAG,
  ...LIST_FLAGS,
  ...PEOPLE_FLAG,
  plan: optional(file, "saved plan to apply instead of a list"),
  yes: toggle("do not ask; required without a terminal"),
  "confirm-losses": optional(
    people,
    "confirm that exactly N people lose access",
  ),
  "confirm-grants": optional(
    people,
    "confirm that exactly N people gain access",
  ),
  readmit: toggle("allow re-admitting people whose relationship was revoked"),
  ...REASON_CODE_FLAG,
  ...SIGNING_FLAGS,
};

/** `sig apply` */
export const apply = typedCommand({
  description:
    "Appends what sig plan shows, all or nothing: from a list (--from), or from a\nsaved plan (--plan), which is refused if the feed has changed since. Applying\nit again changes nothing.\n\nIf more than 5 people, and more than a tenth of those with access, would lose\nor gain access (as sig check would answer now), it needs --confirm-losses or\n--confirm-grants with exactly their number; a new issuer's first events do\nnot. People whose relationship was revoked are re-admitted only with --readmit.",
  flags: APPLY_FLAGS,
  examples: [
    "sig apply --dir acme.example --from people.csv --yes",
    "sig apply --dir acme.example --plan plan.json --yes --reason-code employment_ended",
  ],
  async run(call) {
    const { plan: saved, "reason-code": reasonCode = "admin_action" } =
      call.flags;
    const confirmed = confirmedBy(call.flags);
    const { keys, planOf } = saved === undefined
      ? await readList(call)
      : await readSavedPlan(call, saved);
    return await appendProposal(call, async (issuer) => {
      const { planDrafts, requireGuards } = await import("@sig/issuer");
      const { withPeople } = await import("@sig/issuer/internal");
      const people = (await readPeopleFile(call)).with(keys);
      const state = withPeople(await issuer.published(), people.keys.values());
      const now = call.io.now();
      const plan = await planOf(state, now);
      const drafts = planDrafts(plan, state, reasonCode);
      requireGuards(state, drafts, { ...confirmed, now });
      const count = counted(plan.changes.length, "change");
      return {
        drafts,
        ifLastSequence: state.last_sequence,
        doubts: doubtsAboutPlan(plan, state, now),
        // A change of type takes two events: a revoke, then an upsert.
        changes: plan.changes.flatMap((each) =>
          each.fields.includes("type") ? [each, each] : each
        ),
        preview: {
          when: "asked",
          write: () => writePlan(call, plan, state.people),
        },
        question: {
          text: "Append this?",
          refusal: `Cannot apply plan: ${count} not confirmed`,
          hint: "Look at sig plan, then add --yes.",
        },
        afterwards: () => savePeopleFile(call, call.flags.dir, keys),
      };
    }, { once: saved !== undefined });
  },
});

/** Returns what the flags confirm: numbers of losses and grants, and readmission. */
function confirmedBy(flags: Values<typeof APPLY_FLAGS>) {
  return {
    losses: flags["confirm-losses"],
    grants: flags["confirm-grants"],
    readmit: flags.readmit,
  };
}

/** The list or saved plan, ready to plan for a state of the feed. */
interface Planner {
  /** The names in the list, for the people file. */
  readonly keys: readonly PersonKey[];
  planOf(state: PublishedState, now: Date): Promise<Plan>;
}

/** Reads the list that the flags name. */
async function readList({ flags, io }: ListCall): Promise<Planner> {
  const { from: path, prune, scope: types } = flags;
  if (path === undefined) {
    throw usageError("--from is required", {
      flag: "--from",
      hint: "For example: --from people.csv.",
    });
  }
  const { formatOf, readPeople } = await import("../people/read_people.ts");
  const format = flags.input ?? formatOf(path);
  if (format === undefined) {
    throw usageError("--input is required where no file name tells it", {
      flag: "--input",
      hint: "One of csv, json, yaml. A spreadsheet is saved as CSV.",
    });
  }
  const bytes = await readInput(io, path, MAX_LIST_BYTES);
  const { desired, names } = await readPeople(bytes, format);
  const options = { prune, types: types.length > 0 ? types : undefined };
  return {
    keys: Array.from(names, ([subject, name]) => ({ subject, name })),
    async planOf(state, now) {
      const { planChanges } = await import("@sig/issuer");
      return planChanges(state, desired, { ...options, now });
    },
  };
}

/** Reads a plan that `sig plan --out` saved. */
async function readSavedPlan(
  { flags: { from, input, scope, prune }, io }: ListCall,
  path: string,
): Promise<Planner> {
  const given = { from, input, scope: scope[0], prune: prune || undefined };
  for (const [flag, value] of Object.entries(given)) {
    if (value === undefined) continue;
    throw usageError(`--${flag} is for a list, and --plan is not one`, {
      flag: `--${flag}`,
    });
  }
  const value = await readJsonInput(io, path, {
    what: "plan",
    flag: "--plan",
    maxBytes: MAX_PLAN_BYTES,
    hint: "sig plan --out writes a plan; a list is given with --from.",
  });
  return {
    keys: [],
    async planOf(state) {
      const { readPlan } = await import("@sig/issuer/internal");
      return readPlan(value, state);
    },
  };
}
