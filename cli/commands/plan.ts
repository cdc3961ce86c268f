import { type ReasonCode, RELATIONSHIP_TYPES } from "@sig/core";
import type {
  DesiredRelationship,
  Plan,
  PlanOptions,
  PublishedState,
} from "@sig/issuer";
import { type FlagSpec, usageError } from "@sig/api/flags";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { doubtsAboutPlan } from "../issue/change_notices.ts";
import { DIR_FLAG, REASON_CODE_FLAG, SIGNING_FLAGS } from "../issue/flags.ts";
import { writePlan } from "../output/changes.ts";
import { counted, warn, writeJson } from "../output/write.ts";
import { NAMES_FLAG, readNames } from "../people/names.ts";
import { readInput, readJsonInput } from "../terminal/read_input.ts";

/** Bytes of a list: 10,000 people take about 2 MB. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Bytes of a saved plan; 10,000 changes take about 6 MB. */
const MAX_PLAN_BYTES = 256 * 1024 * 1024;

/** Flags that name a list and say what it manages. */
const LIST_FLAGS: readonly FlagSpec[] = [
  {
    name: "from",
    value: "FILE|-",
    help: "list of people; - is standard input",
  },
  {
    name: "input",
    value: "csv|json|yaml",
    help: "format of the list (default: by the name's ending)",
    choices: ["csv", "json", "yaml"],
  },
  {
    name: "scope",
    value: "type=TYPE",
    help: "manage relationships of these types only",
    repeat: true,
  },
  {
    name: "prune",
    help: "end active relationships that are not listed",
  },
];

/** `sig plan` */
export const plan: CommandSpec = {
  description:
    "Shows what sig apply would append to bring the feed into line with the list.\nOnly what is listed is managed. An empty cell means none; a field without a\ncolumn is kept. Exits 0 if there is nothing to do, 1 for changes, 2 on an error.\n\nColumns: subject and type; optionally roles (separated by ;), valid_from,\nvalid_until, title, department, label, relationship_id, metadata.",
  flags: [
    DIR_FLAG,
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
    const planOf = await readList(call);
    const names = await readNames(call, call.text("dir"));
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    await using issuer = await openIssuerDir(call);
    const state = await issuer.published();
    const now = call.io.now();
    const made = await planOf(state, now);
    const out = call.text("out");
    if (out !== undefined) {
      const text = JSON.stringify(made, null, 2);
      await call.io.createPrivateFile(out, `${text}\n`);
    }
    if (call.format === "json") writeJson(call.io, made);
    else writePlan(call, made, names);
    // At the end of a long plan, where it is read.
    for (const doubt of doubtsAboutPlan(made, state, now)) warn(call, doubt);
    return made.changes.length === 0 ? 0 : 1;
  },
};

/** `sig apply` */
export const apply: CommandSpec = {
  description:
    "Appends what sig plan shows, all or nothing: from a list (--from), or from a\nsaved plan (--plan), which is refused if the feed has changed since. Applying\nit again changes nothing.\n\nIf more than 5 people, and more than a tenth of those with access, would lose\nor gain access (as sig check would answer now), it needs --confirm-losses or\n--confirm-grants with exactly their number; a new issuer's first events do\nnot. People whose relationship was revoked are re-admitted only with --readmit.",
  flags: [
    DIR_FLAG,
    ...LIST_FLAGS,
    NAMES_FLAG,
    {
      name: "plan",
      value: "FILE",
      help: "saved plan to apply instead of a list",
    },
    { name: "yes", help: "do not ask; required without a terminal" },
    {
      name: "confirm-losses",
      value: "N",
      help: "confirm that exactly N people lose access",
    },
    {
      name: "confirm-revocations",
      value: "N",
      help: "same as --confirm-losses",
    },
    {
      name: "confirm-grants",
      value: "N",
      help: "confirm that exactly N people gain access",
    },
    {
      name: "readmit",
      help: "allow re-admitting people whose relationship was revoked",
    },
    REASON_CODE_FLAG,
    ...SIGNING_FLAGS,
  ],
  examples: [
    "sig apply --dir acme.example --from people.csv --yes",
    "sig apply --dir acme.example --plan plan.json --yes --reason-code employment_ended",
  ],
  async run(call) {
    const confirmed = readConfirmed(call);
    const isSaved = call.text("plan") !== undefined;
    const planOf = await (isSaved ? readSavedPlan(call) : readList(call));
    const reasonCode = call.text("reason-code") as ReasonCode | undefined;
    return await appendProposal(call, async (issuer) => {
      const { planDrafts, requireGuards } = await import("@sig/issuer");
      const state = await issuer.published();
      const now = call.io.now();
      const plan = await planOf(state, now);
      const drafts = planDrafts(plan, state, reasonCode ?? "admin_action");
      requireGuards(state, drafts, { ...confirmed, now });
      const count = counted(plan.changes.length, "change");
      return {
        drafts,
        ifLastSequence: state.last_sequence,
        doubts: doubtsAboutPlan(plan, state, now),
        changes: plan.changes,
        preview: {
          when: "asked",
          async write() {
            writePlan(call, plan, await readNames(call, call.text("dir")));
          },
        },
        question: {
          text: "Append this?",
          refusal: `Cannot apply plan: ${count} not confirmed`,
          hint: "Look at sig plan, then add --yes.",
        },
      };
    }, { once: isSaved });
  },
};

/** What the operator has confirmed. */
function readConfirmed(call: Call) {
  const losses = readCount(call, "confirm-losses");
  const revocations = readCount(call, "confirm-revocations");
  if (losses !== undefined && revocations !== undefined) {
    throw usageError(
      "--confirm-revocations means the same as --confirm-losses",
      {
        flag: "--confirm-revocations",
      },
    );
  }
  return {
    losses: losses ?? revocations,
    grants: readCount(call, "confirm-grants"),
    readmit: call.on("readmit"),
  };
}

function readCount(call: Call, flag: string): number | undefined {
  const text = call.text(flag);
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usageError(`--${flag} must be a number`, { flag: `--${flag}` });
}

/** Plans for a state of the feed; what it plans was read before. */
type PlanOf = (state: PublishedState, now: Date) => Promise<Plan>;

/** The plan of the list that the flags name. */
async function readList(call: Call): Promise<PlanOf> {
  const path = call.text("from");
  if (path === undefined) {
    throw usageError("--from is required", {
      flag: "--from",
      hint: "For example: --from people.csv.",
    });
  }
  const { formatOf, readPeople } = await import("../people/read_people.ts");
  const format = call.text("input") ?? formatOf(path);
  if (format === undefined) {
    throw usageError("--input is required where no file name tells it", {
      flag: "--input",
      hint: "One of csv, json, yaml. A spreadsheet is saved as CSV.",
    });
  }
  const bytes = await readInput(call.io, path, MAX_LIST_BYTES);
  const options = planOptions(call);
  const people: readonly DesiredRelationship[] = readPeople(bytes, format);
  return async (state, now) => {
    const { planChanges } = await import("@sig/issuer");
    return planChanges(state, people, { ...options, now });
  };
}

function planOptions(call: Call): PlanOptions {
  const types = call.texts("scope").map((scope) => {
    const found = RELATIONSHIP_TYPES.find((type) => scope === `type=${type}`);
    if (found !== undefined) return found;
    throw usageError("--scope must be type=TYPE", {
      flag: "--scope",
      hint: `TYPE is one of ${RELATIONSHIP_TYPES.join(", ")}.`,
    });
  });
  return {
    prune: call.on("prune"),
    types: types.length > 0 ? types : undefined,
  };
}

/** A plan that `sig plan --out` has saved. */
async function readSavedPlan(call: Call): Promise<PlanOf> {
  for (const flag of ["from", "input", "scope", "prune"]) {
    if (
      call.text(flag) === undefined && call.texts(flag).length === 0 &&
      !call.on(flag)
    ) continue;
    throw usageError(`--${flag} is for a list, and --plan is not one`, {
      flag: `--${flag}`,
    });
  }
  const value = await readJsonInput(call.io, call.text("plan")!, {
    what: "plan",
    flag: "--plan",
    maxBytes: MAX_PLAN_BYTES,
    hint: "sig plan --out writes a plan; a list is given with --from.",
  });
  return async (state) => {
    const { readPlan } = await import("@sig/issuer");
    return readPlan(value, state);
  };
}
