import type { ReasonCode } from "@sig/core";
import type { Plan, PublishedState } from "@sig/issuer";
import { usageError } from "@sig/api/flags";
import type { Call, Command } from "../command_line/command.ts";
import { counted, warn } from "../command_line/output.ts";
import { createProgress } from "../command_line/progress.ts";
import { openForAppend } from "../ask/open_for_append.ts";
import { SIGNING_FLAGS } from "../issue/append.ts";
import { reportBatch } from "../issue/batch.ts";
import {
  REASON_CODE_FLAG,
  REQUIRED_DIR_FLAG,
} from "../issue/relationship_flags.ts";
import { NAMES_FLAG, readNames } from "../people/names.ts";
import { LIST_FLAGS, planOptions, readList } from "../people/people_flags.ts";
import { doubtsAboutPlan } from "../issue/change_notices.ts";
import { canAsk, requireYes } from "../issue/agreement.ts";
import { untilUnmoved } from "../issue/until_unmoved.ts";
import { readJsonInput } from "../terminal/read_input.ts";

/** Bytes of a saved plan; 10,000 changes take about 6 MB. */
const MAX_PLAN_BYTES = 256 * 1024 * 1024;

/** Events between two words of progress. */
const NEWS_EVERY = 1_000;

/** `sig apply` */
export const apply: Command = {
  name: "apply",
  summary: "make the feed say what a list says",
  description:
    "Appends what sig plan shows, all or nothing: from a list (--from), or from a\nsaved plan (--plan), which is refused when the feed has changed since. Done\ntwice it does nothing.\n\nIf more than 5 people, and more than a tenth of those with access, would lose\nor gain access (as sig check would answer now), it needs --confirm-losses or\n--confirm-grants with exactly their number; a new issuer's first events do\nnot. Whoever was revoked comes back only with --readmit.",
  flags: [
    REQUIRED_DIR_FLAG,
    ...LIST_FLAGS,
    NAMES_FLAG,
    { name: "plan", value: "FILE", help: "a saved plan, instead of a list" },
    { name: "yes", help: "do not ask; needed where there is no terminal" },
    {
      name: "confirm-losses",
      value: "N",
      help: "exactly N people may lose access",
    },
    {
      name: "confirm-revocations",
      value: "N",
      help: "same as --confirm-losses",
    },
    {
      name: "confirm-grants",
      value: "N",
      help: "exactly N people may gain access",
    },
    {
      name: "readmit",
      help: "people whose relationship was revoked may come back",
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
    const planOf = await readWanted(call);
    const { planDrafts, requireGuards } = await import("@sig/issuer");
    const reasonCode = call.text("reason-code") as ReasonCode | undefined;
    await using issuer = await openForAppend(call);
    const agreed = new Set<string>();
    const apply = async () => {
      const state = await issuer.published();
      const plan = await planOf(state);
      const now = call.io.now();
      const doubts = doubtsAboutPlan(plan, state, now);
      if (plan.changes.length === 0) {
        for (const doubt of doubts) warn(call, doubt);
        return reportBatch(call, []);
      }
      const drafts = planDrafts(plan, state, reasonCode ?? "admin_action");
      requireGuards(state, drafts, { ...confirmed, now });
      const changes = JSON.stringify(plan.changes);
      if (!agreed.has(changes)) await requireAgreed(call, plan, doubts);
      agreed.add(changes);
      const progress = createProgress(
        call,
        NEWS_EVERY,
        (done) => `signed ${done} of ${drafts.length} events`,
      );
      const appended = await issuer.appendAll(drafts, {
        ifLastSequence: state.last_sequence,
        onProgress: progress?.show,
      }).finally(() => progress?.wipe());
      const actions = plan.changes.map(({ action }) => action);
      return reportBatch(call, appended, actions);
    };
    // A saved plan fits one feed only.
    return await (call.text("plan") === undefined
      ? untilUnmoved(apply)
      : apply());
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

/** What is wanted, read before the issuer is opened. */
async function readWanted(
  call: Call,
): Promise<(state: PublishedState) => Promise<Plan>> {
  const file = call.text("plan");
  if (file === undefined) {
    const { bytes, format } = await readList(call);
    const options = planOptions(call);
    const { readPeople } = await import("../people/read_people.ts");
    const people = readPeople(bytes, format);
    return async (state) => {
      const { planChanges } = await import("@sig/issuer");
      return planChanges(state, people, { ...options, now: call.io.now() });
    };
  }
  for (const flag of ["from", "input", "scope", "prune"]) {
    if (
      call.text(flag) === undefined && call.texts(flag).length === 0 &&
      !call.on(flag)
    ) continue;
    throw usageError(`--${flag} is for a list, and --plan is none`, {
      flag: `--${flag}`,
    });
  }
  const value = await readJsonInput(call.io, file, {
    what: "plan",
    flag: "--plan",
    maxBytes: MAX_PLAN_BYTES,
    hint: "sig plan --out writes a plan; a list is given with --from.",
  });
  return async (state) => {
    const { readPlan } = await import("@sig/issuer");
    const plan = readPlan(value, state);
    if (plan !== "done") return plan;
    const { issuer, last_sequence, feed_sha256 } = state;
    return {
      issuer,
      based_on: { last_sequence, feed_sha256 },
      changes: [],
      unchanged: 0,
      unmanaged: 0,
    };
  };
}

/** Whoever is asked sees the plan first. */
async function requireAgreed(
  call: Call,
  plan: Plan,
  doubts: readonly string[],
): Promise<void> {
  if (canAsk(call)) {
    const { writePlan } = await import("../people/write_plan.ts");
    writePlan(call, plan, await readNames(call, call.text("dir")));
  }
  // Between a long plan and the question.
  for (const doubt of doubts) warn(call, doubt);
  await requireYes(call, "Append this?", {
    refusal: `Cannot apply plan: ${
      counted(plan.changes.length, "change")
    } not confirmed`,
    hint: "Look at sig plan, then add --yes.",
  });
}
