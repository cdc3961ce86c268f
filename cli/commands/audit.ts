import type { VerifiedIssuer } from "@sig/consumer";
import { parseTimestamp, personOf } from "@sig/core";
import { folder, optional } from "@sig/api/program";
import type { Call } from "../command_line/command.ts";
import { person, timestamp, timestampThrough } from "../command_line/values.ts";
import { describeFields, differingFields } from "../output/changes.ts";
import {
  type CsvColumn,
  REPORT_FLAGS,
  type ReportValues,
  writeReport,
} from "../output/report.ts";
import { column, DID, type TableColumn, TIME } from "../output/table.ts";
import { toSecond, writeJson, writeWarnings } from "../output/write.ts";
import {
  ChangeList,
  changesBetween,
  type DatedChange,
} from "../ask/change_list.ts";
import { neverSeen } from "../ask/never_seen.ts";
import type { People } from "@sig/issuer/people";
import { PEOPLE_FLAG } from "../people/people.ts";
import {
  keysOf,
  peopleOf,
  type PolicyValues,
  sourceCommand,
  verifySource,
  withSource,
} from "../ask/source_flags.ts";

/** The gains and losses of access that became known between two instants. */
interface AuditReport {
  readonly issuer: string;
  readonly last_sequence: number;
  /** The start, exclusive; null means from the beginning. */
  readonly from: string | null;
  /** The end, inclusive; null for an empty feed. */
  readonly to: string | null;
  /** The person or key asked about; absent for all. */
  readonly subject?: string;
  readonly entries: readonly AuditEntry[];
}

/** A change, with its evidence file if `--evidence` is given. */
interface AuditEntry extends DatedChange {
  readonly evidence?: {
    readonly file: string;
    readonly decision: "allow" | "deny";
  };
}

/** `sig audit` */
export const audit = sourceCommand({
  description: `
    Reports what came to be known after --from, up to and including --to. Default of
    --from: the beginning of the feed; of --to: its latest time, so that the same
    feed gives the same bytes at any time. Times are those that the issuer states
    (issued_at). An event that is dated before an earlier one counts from the time of
    that one, and is marked, as are ends that are dated back. Validity that begins or
    ends by itself is reported as well.`,
  subjects: "person",
  flags: {
    subject: optional(person, "only changes of this person or key"),
    from: optional(timestamp, "only what was not known at that time"),
    to: optional(timestampThrough, "only what was known at that time"),
    evidence: optional(
      folder,
      "write an evidence file for each line to this folder; needs proofs",
    ),
    ...PEOPLE_FLAG,
    ...REPORT_FLAGS,
  },
  formats: ["csv", "html"],
  examples: [
    "sig audit acme.example --from 2026-01-01T00:00:00Z --to 2026-03-31T23:59:59Z",
    "sig audit ./acme.example --format html > audit.html",
    "sig audit ./acme.example --format html --evidence evidence > audit.html",
  ],
  async run(call, source) {
    const { from, subject, to } = call.flags;
    const subjects = keysOf(call);
    const people = await peopleOf(call, source);
    const list = new ChangeList();
    const changes: DatedChange[] = [];
    const verified = await verifySource(call, source, {
      digest: true,
      onEvent: (event) => void changes.push(...list.add(event)),
    });
    const { issuer, state } = verified;
    const until = to?.instant ?? parseTimestamp(list.knownUntil);
    const all = until === undefined
      ? []
      : changesBetween([...changes, ...list.open(until)], from?.instant, until);
    const found = all.filter((each) =>
      subjects?.includes(each.subject) ?? true
    );
    const folder = call.flags.evidence;
    const report: AuditReport = {
      issuer,
      last_sequence: state.last_sequence,
      from: from?.text ?? null,
      to: to?.text ?? list.knownUntil,
      ...subject !== undefined && { subject },
      entries: folder === undefined
        ? found
        : await writeEvidence(call, source, found, folder),
    };
    const linked = people.linked((each) => personOf(state, each));
    writeAudit(call, report, verified, linked);
    writeWarnings(call, neverSeen(state, { subjects }));
  },
});

/**
 * Writes an evidence file for each entry. It proves whether the subject has the
 * entry's type and roles at the entry's time. All files are made before the
 * first is written.
 */
async function writeEvidence(
  call: Call<PolicyValues>,
  source: string,
  entries: readonly DatedChange[],
  folder: string,
): Promise<readonly AuditEntry[]> {
  const { io } = call;
  const { makeEvidence } = await import("@sig/consumer");
  const made = await withSource(call, source, async (location, options) => {
    const all = [];
    for (const entry of entries) {
      all.push(await makeEvidence(location, questionOf(entry), options));
    }
    return all;
  });
  await io.makePrivateFolder(folder);
  const shown: AuditEntry[] = [];
  for (const [i, entry] of entries.entries()) {
    const file = `${folder}/line-${i + 1}.json`;
    await io.createFile(file, `${JSON.stringify(made[i])}\n`);
    const { decision } = made[i]!.answer;
    shown.push({ ...entry, evidence: { file, decision } });
  }
  return shown;
}

function questionOf(entry: DatedChange) {
  const { after, at, before, roles_gained, roles_lost, subject } = entry;
  const roles = roles_gained.length > 0 ? roles_gained : roles_lost;
  const type = (after ?? before)?.relationship_type;
  const require = [
    ...(type === undefined ? [] : [`relationship=${type}`]),
    ...roles.map((role) => `role=${role}`),
  ];
  return { subject, require, at };
}

/** An entry, and whose relationship it is about. */
type Shown = AuditEntry & ReturnType<People["named"]>;

const WRAPPED = { ...TIME, isWrapped: true };

const COLUMNS: readonly TableColumn<Shown>[] = [
  column("time", ({ at }) => toSecond(at)),
  column("what", ({ kind }) => kind, {
    colour: (kind) =>
      kind === "gained" ? "green" : kind === "lost" ? "red" : "yellow",
  }),
  column("name", ({ name }) => name ?? ""),
  column("subject", ({ subject }) => subject, DID),
  column("type", (each) => grantOf(each)?.relationship_type ?? ""),
  column(
    "roles",
    ({ roles_gained: more, roles_lost: less }) =>
      [...more.map((role) => `+${role}`), ...less.map((role) => `-${role}`)]
        .join(" "),
    WRAPPED,
  ),
  column("note", noteOf, WRAPPED),
  // The event's number names it too.
  column("relationship", (each) => each.relationship_id, {
    short: (id, level) => level === 3 ? "" : id,
  }),
  column("key", ({ kid }) => kid),
  column("event", ({ sequence }) => `#${sequence}`),
];

const EVIDENCE = {
  ...column<Shown>(
    "evidence",
    ({ evidence }) =>
      evidence === undefined
        ? ""
        : `${evidence.decision}, ${evidence.file.replace(/.*\//s, "")}`,
  ),
  fileOf: ({ evidence }: Shown) => evidence?.file,
};

function writeAudit(
  call: Call<ReportValues>,
  report: AuditReport,
  { feed }: VerifiedIssuer,
  people: People,
): void {
  if (call.format === "json") return writeJson(call.io, report);
  const { entries, from, issuer, subject, to } = report;
  const hasEvidence = entries.some(({ evidence }) => evidence !== undefined);
  const count = (kind: DatedChange["kind"]) =>
    entries.filter((entry) => entry.kind === kind).length;
  const span = `${subject === undefined ? "" : `${subject}, `}${
    from === null ? "from the beginning" : `after ${from}`
  } ${to === null ? "on" : `until ${to}`}`;
  writeReport(call, {
    heading: `${issuer}, ${span}`,
    title: `Audit of ${issuer}`,
    about: `${span}: ${count("gained")} gained, ${count("lost")} lost, ${
      count("changed")
    } changed, ${count("recorded")} only recorded`,
    feed: { issuer, ...feed },
    columns: hasEvidence ? [...COLUMNS, EVIDENCE] : COLUMNS,
    csv: [
      ...CSV,
      ...Object.entries({ subject, ...NOT_ASKED, from, to })
        .map(([name, value]) => [`asked_${name}`, () => value ?? ""] as const),
      ...hasEvidence ? EVIDENCE_CSV : [],
    ],
    rows: entries.map((each) => ({ ...each, ...people.named(each.subject) })),
    isMarked: ({ at, backdated, known_at }) => backdated || known_at !== at,
    empty: "nothing happened",
  });
}

/** The members of a question that only other reports have. */
const NOT_ASKED = { role: "", type: "", at: "", as_of: "" };

function grantOf({ after, before }: DatedChange) {
  return after ?? before;
}

/** Returns remarks on an entry: its cause, reason and backdating. */
function noteOf(entry: DatedChange): string {
  const { cause, reason, reason_code, effective_at, backdated } = entry;
  return [
    entry.void ? "void: its key had ended" : "",
    cause === "valid_from" ? "its validity began" : "",
    cause === "valid_until" ? "its validity ended" : "",
    reason_code ?? "",
    ...differencesOf(entry),
    backdated
      ? `backdated to ${effective_at ?? entry.after?.valid_until ?? ""}`
      : "",
    entry.known_at === entry.at ? "" : `known from ${entry.known_at} on`,
    reason === null ? "" : `"${reason}"`,
  ].filter((part) => part !== "").join(", ");
}

/** Describes what an event changed, except roles that have their own column. */
function differencesOf(
  { before, after, roles_gained, roles_lost }: DatedChange,
): readonly string[] {
  if (before === null || after === null) return [];
  const had = new Set(before.roles).symmetricDifference(new Set(after.roles));
  const isShown = roles_gained.length + roles_lost.length > 0;
  const fields = differingFields(before, after, ["roles"]);
  // An ineffective relationship gains and loses no roles, so their change is
  // described here.
  if (had.size > 0 && !isShown) {
    return describeFields(before, after, [...fields, "roles"]);
  }
  if (fields.length > 0 || isShown) {
    return describeFields(before, after, fields);
  }
  return ["nothing that affects a check"];
}

const CSV: readonly CsvColumn<Shown>[] = [
  ["time", ({ at }) => at],
  ["what", ({ kind }) => kind],
  ["cause", ({ cause }) => cause],
  ["person", ({ person }) => person ?? ""],
  ["name", ({ name }) => name ?? ""],
  ["subject", ({ subject }) => subject],
  ["relationship_id", (each) => each.relationship_id],
  ["type", (each) => grantOf(each)?.relationship_type ?? ""],
  ["roles_gained", (each) => each.roles_gained.join(";")],
  ["roles_lost", (each) => each.roles_lost.join(";")],
  ["valid_from", (each) => grantOf(each)?.valid_from ?? ""],
  ["valid_until", (each) => grantOf(each)?.valid_until ?? ""],
  ["reason_code", (each) => each.reason_code ?? ""],
  ["reason", ({ reason }) => reason ?? ""],
  ["effective_at", (each) => each.effective_at ?? ""],
  ["backdated", ({ backdated }) => backdated ? "yes" : ""],
  ["sequence", ({ sequence }) => `${sequence}`],
  ["event_id", (each) => each.event_id],
  ["kid", ({ kid }) => kid],
  ["known_at", (each) => each.known_at],
];

const EVIDENCE_CSV: readonly CsvColumn<Shown>[] = [
  ["evidence", ({ evidence }) => evidence?.file ?? ""],
  ["decision", ({ evidence }) => evidence?.decision ?? ""],
];
