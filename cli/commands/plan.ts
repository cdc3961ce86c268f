import {
  isDid,
  REASON_CODES,
  RELATIONSHIP_TYPES,
  type RelationshipType,
  type SigError,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { Issuer, Plan, PlannedChange, PublishedState } from "@sig/issuer";
import type { PersonKey } from "@sig/issuer/people";
import {
  file,
  many,
  optional,
  toggle,
  usageError,
  type Values,
  type ValueType,
} from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { people, refuseTogether, role } from "../command_line/values.ts";
import { appendProposal, canAsk } from "../issue/append_proposal.ts";
import { DIR_FLAG, REASON_CODE_FLAG, SIGNING_FLAGS } from "../issue/flags.ts";
import { remarksOn, writePlan } from "../output/changes.ts";
import { counted, warn, writeJson } from "../output/write.ts";
import {
  PEOPLE_FLAG,
  type PeopleValue,
  readPeopleFile,
  tryReadPeopleFile,
  warnIfWritable,
} from "../people/people.ts";
import { savePeopleFile } from "../people/save_people.ts";
import { readDesired, READING_FLAGS } from "../people/list_flags.ts";
import { readJsonInput } from "../terminal/read_input.ts";

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
  ...READING_FLAGS,
  scope: many(scope, "manage relationships of these types only"),
  prune: toggle("end active relationships that are not listed"),
  retroactive: toggle(
    "keep a valid_from before the end of the last relationship, for a revoke that was wrong",
  ),
  ...REASON_CODE_FLAG,
};

type ListCall = Call<Values<typeof LIST_FLAGS>>;

/** `sig plan` */
export const plan = typedCommand({
  description: `
    Shows what sig apply would append to bring the feed into line with the list.
    Only what is listed is managed. An empty cell means none; a field without a
    column is kept. If the only row of a person has another type than the only
    relationship, it replaces that one. Exits 0 if there is nothing to do, 1 for
    changes, 2 on an error.

    Columns: type, and subject or person; optionally roles (separated by ; or ,),
    valid_from, valid_until, title, department, label, relationship_id, metadata.
    A row with a person and no subject means all keys that DIR/.sig/people.csv has
    for the person, and waits if there are none. Rows with both name all keys of the
    person: another key ends (superseded). The columns person and name are local:
    sig apply adds them to DIR/.sig/people.csv.`,
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
    const planner = await readList(call);
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    await using issuer = await openIssuerDir(call);
    const now = call.io.now();
    const { doubts, plan: made, state } = await makePlan(
      call,
      planner,
      issuer,
      now,
    );
    const out = call.flags.out;
    if (out !== undefined) {
      // Persons and names are for the people file, and stay on this machine.
      const saved = { ...made, people: planner.keys };
      const text = JSON.stringify(saved, null, 2);
      await call.io.createPrivateFile(out, `${text}\n`);
    }
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
    "confirm that exactly N people gain access, or keep it for longer",
  ),
  "confirm-public": optional(
    people,
    "confirm that the published text of exactly N people changes",
  ),
  "new-role": many(role, "confirm a role that the feed has never had"),
  readmit: toggle("allow re-admitting people or keys that were revoked"),
  namesakes: toggle("new people may have the name of a known person"),
  ...SIGNING_FLAGS,
};

/** `sig apply` */
export const apply = typedCommand({
  description: `
    Appends what sig plan shows, all or nothing: from a list (--from), or from a
    saved plan (--plan), which is refused if the feed has changed since. Applying
    it again changes nothing.

    If more than 5 people, and more than a tenth of those with access, would lose
    or gain access (as sig check would answer now), it needs --confirm-losses or
    --confirm-grants with exactly their number; a new issuer's first events do
    not. So does published text with --confirm-public. Roles that the feed has never
    had need --new-role, people and keys that were revoked --readmit, new people
    with the name of a known one --namesakes. --prune needs --reason-code.`,
  flags: APPLY_FLAGS,
  examples: [
    "sig apply --dir acme.example --from people.csv --yes",
    "sig apply --dir acme.example --plan plan.json --yes --reason-code employment_ended",
  ],
  async run(call) {
    const { plan: saved, prune, "reason-code": given } = call.flags;
    const confirmed = {
      losses: call.flags["confirm-losses"],
      grants: call.flags["confirm-grants"],
      publicTexts: call.flags["confirm-public"],
      newRoles: call.flags["new-role"],
      namesakes: call.flags.namesakes,
      readmit: call.flags.readmit,
    };
    if (prune && given === undefined) throw reasonMissing();
    const planner = saved === undefined
      ? await readList(call)
      : await readSavedPlan(call, saved);
    return await appendProposal(call, async (issuer) => {
      const { planDrafts } = await import("@sig/issuer");
      const now = call.io.now();
      const made = await makePlan(call, planner, issuer, now);
      const { doubts, state } = made;
      const reason_code = given ?? made.plan.reason_code;
      const plan = { ...made.plan, reason_code };
      if (reason_code === undefined && plan.changes.some(isPruned)) {
        throw reasonMissing();
      }
      const drafts = planDrafts(plan, state, reason_code ?? "admin_action");
      const count = counted(plan.changes.length, "change");
      return {
        drafts,
        guards: { ...confirmed, state, now },
        ifLastSequence: state.last_sequence,
        doubts,
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
          refusal: { action: "apply plan", reason: `${count} not confirmed` },
          hint: "Look at sig plan, then add --yes.",
        },
        remarks: {
          text: (canAsk(call) ? "" : remarksOn(plan)) + endingsOf(plan),
          members: { unlisted: plan.unlisted },
        },
        afterwards: () => savePeopleFile(call, call.flags.dir, planner.keys),
      };
    }, { once: saved !== undefined });
  },
});

/** Returns whether a change ends what the list does not have. */
function isPruned({ action, reason_code, row }: PlannedChange): boolean {
  return action === "revoke" && row === null && reason_code === undefined;
}

/** Returns what --prune published, as a line. */
function endingsOf({ changes, reason_code }: Plan): string {
  const { length } = changes.filter(isPruned);
  return length === 0
    ? ""
    : `Ends ${
      counted(length, "relationship")
    } with the reason code ${reason_code}.\n`;
}

function reasonMissing(): SigError {
  return usageError("--prune needs --reason-code, which is published", {
    flag: "--reason-code",
    hint: `One of ${REASON_CODES.join(", ")}.`,
  });
}

/** Plans for the current state of the feed, joined with its people. */
async function makePlan(
  call: Call<PeopleValue & { readonly dir: string }>,
  { keys, needsPeople, planOf }: Planner,
  issuer: Issuer,
  now: Date,
) {
  const { doubtsAboutPlan, joinPeople } = await import(
    "@sig/issuer/internal"
  );
  // A list that names people would change the wrong ones without the file.
  if (needsPeople) await warnIfWritable(call);
  const people = needsPeople
    ? await readPeopleFile(call)
    : await tryReadPeopleFile(call);
  const state = joinPeople(await issuer.published(), people.keys.values());
  const plan = await planOf(state, now);
  const joined = joinPeople(state, keys);
  return { plan, state: joined, doubts: doubtsAboutPlan(plan, joined, now) };
}

/** The list or saved plan, ready to plan for a state of the feed. */
interface Planner {
  /** The persons and names of keys in the list, for the people file. */
  readonly keys: readonly PersonKey[];
  /** Whether the list has persons or names. */
  readonly needsPeople: boolean;
  planOf(state: PublishedState, now: Date): Promise<Plan>;
}

/** Reads the list that the flags name. */
async function readList(call: ListCall): Promise<Planner> {
  const { flags } = call;
  const { prune, retroactive, scope: types } = flags;
  const desired = await readDesired(call);
  const { keysIn } = await import("@sig/issuer/internal");
  const types_ = types.length > 0 ? types : undefined;
  return {
    keys: keysIn(desired),
    needsPeople: desired.some(({ name, person }) => name ?? person),
    async planOf(state, now) {
      const { planChanges } = await import("@sig/issuer");
      const options = { prune, retroactive, types: types_, now };
      const plan = planChanges(state, desired, options);
      const reason_code = flags["reason-code"];
      return reason_code === undefined ? plan : { ...plan, reason_code };
    },
  };
}

/** Reads a plan that `sig plan --out` saved. */
async function readSavedPlan(
  { flags, io }: ListCall,
  path: string,
): Promise<Planner> {
  const { columns, dates, from, input, prune, retroactive, scope } = flags;
  refuseTogether(
    { from, input, columns, dates, scope, prune, retroactive },
    "plan",
  );
  const value = await readJsonInput(io, path, {
    what: "plan",
    flag: "--plan",
    maxBytes: MAX_PLAN_BYTES,
    hint: "sig plan --out writes a plan; a list is given with --from.",
  });
  return {
    keys: keysOf(value),
    needsPeople: false,
    async planOf(state, now) {
      const { readPlan } = await import("@sig/issuer/internal");
      return readPlan(value, state, now);
    },
  };
}

/** Returns the keys of a saved plan for the people file. */
function keysOf(plan: unknown): readonly PersonKey[] {
  const keys = isObject(plan) && Array.isArray(plan.people) ? plan.people : [];
  const text = (value: unknown) =>
    typeof value === "string" && value !== "" ? value : undefined;
  return keys.flatMap((key: unknown) => {
    const { name, person, subject } = isObject(key) ? key : {};
    const did = text(subject);
    return did === undefined || !isDid(did)
      ? []
      : [{ subject: did, person: text(person), name: text(name) }];
  });
}
