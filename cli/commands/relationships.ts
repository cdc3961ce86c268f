/**
 * Lists of relationships: `sig who`, `sig expiring`, `sig dump-state`.
 *
 * @module
 */

import {
  addSeconds,
  compareInstants,
  dumpState as dump,
  EFFECTIVE_STATUSES,
  formatInstant,
  instantOf,
  type ParsedTime,
  parseTimestamp,
  personOf,
  type RelationshipState,
  type StateDump,
  stringifyDump,
} from "@sig/core";
import type { VerifiedIssuer } from "@sig/consumer";
import { duration, oneOf, optional, required } from "@sig/api/program";
import { neverSeen } from "../ask/never_seen.ts";
import { typeFlag } from "../issue/flags.ts";
import type { Call } from "../command_line/command.ts";
import { person, role } from "../command_line/values.ts";
import {
  type CsvColumn,
  REPORT_FLAGS,
  type ReportValues,
  writeReport,
} from "../output/report.ts";
import {
  column,
  DID,
  ID,
  type TableColumn,
  TIME,
  writeTable,
} from "../output/table.ts";
import {
  counted,
  type Output,
  safe,
  safeJson,
  statusColour,
  toSecond,
  writeJson,
  writeWarnings,
} from "../output/write.ts";
import type { People } from "@sig/issuer/people";
import { byName, PEOPLE_FLAG } from "../people/people.ts";
import {
  askedTime,
  keysOf,
  peopleOf,
  readState,
  sourceCommand,
  TIME_FLAGS,
  timeOf,
  verifySource,
} from "../ask/source_flags.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig dump-state` */
export const dumpState = sourceCommand({
  subjects: "person",
  flags: {
    ...TIME_FLAGS,
    subject: optional(person, "only relationships of this person or key"),
    status: optional(
      oneOf(...EFFECTIVE_STATUSES),
      "only relationships with this effective status",
      { placeholder: "STATUS" },
    ),
    ...PIN_FLAGS,
  },
  format: "json",
  examples: [
    "sig dump-state acme.example",
    "sig dump-state ./acme.example --as-of 3 --status active",
  ],
  async run(call, source) {
    const { status } = call.flags;
    const time = timeOf(call.flags);
    const { state } = await readState(call, source, time);
    const subjects = keysOf(call);
    const whole = dump(state, { ...time, status, now: call.io.now() });
    const found = subjects === undefined ? whole : {
      ...whole,
      by_relationship_id: new Map(
        [...whole.by_relationship_id].filter(([, each]) =>
          subjects.includes(each.subject)
        ),
      ),
    };
    if (call.format === "json") {
      call.io.stdout(`${safeJson(stringifyDump(found))}\n`);
    } else writeState(call, found);
    if (time.asOf === undefined) {
      writeWarnings(call, neverSeen(state, { subjects }));
    }
  },
});

/** The question of a report, which every format repeats. */
interface Asked {
  readonly subject?: string;
  readonly role: string | null;
  readonly type: string | null;
  readonly at: string | null;
  readonly as_of: number | string | null;
  /** Of `sig expiring`: the end of the time asked about. */
  readonly until?: string;
}

/** `sig who` */
export const who = sourceCommand({
  description: `
    Lists relationships that are effective: not ended, not expired, and already
    begun. --subject, --role and --type select; --at and --as-of ask about another
    time. Every format repeats the question.`,
  subjects: "person",
  flags: {
    subject: optional(person, "only those of this person or key"),
    role: optional(role, "only those with this role"),
    ...typeFlag("only relationships of this type"),
    ...TIME_FLAGS,
    ...PEOPLE_FLAG,
    ...REPORT_FLAGS,
    ...PIN_FLAGS,
  },
  formats: ["csv", "html"],
  examples: [
    "sig who acme.example --role refund",
    "sig who ./acme.example --type contractor --at 2026-06-30T00:00:00Z --format json",
    "sig who acme.example --format html > members.html",
  ],
  async run(call, source) {
    const { role, type, subject } = call.flags;
    const time = timeOf(call.flags);
    const people = await peopleOf(call, source);
    const verified = await readState(call, source, time);
    const subjects = keysOf(call);
    const asked = {
      ...subject !== undefined && { subject },
      role: role ?? null,
      type: type ?? null,
      ...askedTime(time),
    };
    writeActive(call, people, verified, {
      asked,
      time,
      now: call.io.now(),
      whose: call.found?.("subject")?.name ?? subject,
      isListed: (each) =>
        (subjects?.includes(each.subject) ?? true) &&
        (role === undefined || each.roles.includes(role)) &&
        (type === undefined || each.relationship_type === type),
    });
    const words = { subjects, roles: [role], types: [type] };
    writeWarnings(call, neverSeen(verified.state, words));
  },
});

/** `sig expiring` */
export const expiring = sourceCommand({
  flags: {
    within: required(duration, "how soon from now, such as 30d"),
    ...PEOPLE_FLAG,
    ...REPORT_FLAGS,
  },
  formats: ["csv", "html"],
  examples: [
    "sig expiring acme.example --within 30d",
    "sig expiring ./acme.example --within 12h --format json",
  ],
  async run(call, source) {
    const people = await peopleOf(call, source);
    const verified = await verifySource(call, source, {
      digest: call.ownFormat === "html",
    });
    const now = call.io.now();
    const seconds = Math.ceil(call.flags.within / 1000);
    const last = addSeconds(instantOf(now), seconds);
    const until = formatInstant(last);
    writeActive(call, people, verified, {
      now,
      asked: { role: null, type: null, at: null, as_of: null, until },
      isListed({ valid_until }) {
        const end = parseTimestamp(valid_until);
        return end !== undefined && compareInstants(end, last) <= 0;
      },
    });
  },
});

/** A relationship, as a table shows it. */
type Grant = Pick<
  RelationshipState,
  "subject" | "relationship_type" | "roles" | "valid_from" | "valid_until"
>;

/** The columns that all tables share. */
const GRANT_COLUMNS: readonly TableColumn<Grant>[] = [
  column("subject", ({ subject }) => subject, DID),
  column("type", (each) => each.relationship_type),
  column("roles", ({ roles }) => roles.join(", "), { isWrapped: true }),
  column("from", (each) => toSecond(each.valid_from), TIME),
  column("until", (each) => toSecond(each.valid_until), TIME),
];

function writeState(call: Output, found: StateDump): void {
  const { issuer, last_sequence, by_relationship_id, statuses } = found;
  call.io.stdout(`${safe(issuer)}, last sequence ${last_sequence}\n`);
  writeTable<RelationshipState>(call, [...by_relationship_id.values()], [
    column("status", (each) => statuses.get(each.relationship_id)!, {
      colour: statusColour,
    }),
    column("relationship", (each) => each.relationship_id),
    ...GRANT_COLUMNS,
    column(
      "ended",
      (each) => toSecond(each.revoked_effective_at ?? null),
      TIME,
    ),
  ]);
}

/** An effective relationship, and whose it is. */
type Active =
  & ReturnType<typeof shownOf>
  & Pick<ReturnType<People["named"]>, "person" | "name">;

const COLUMNS: readonly TableColumn<Active>[] = [
  column("name", ({ name }) => name ?? ""),
  ...GRANT_COLUMNS,
  column("status", (each) => each.effective_status, { colour: statusColour }),
  column("relationship", (each) => each.relationship_id, ID),
];

const CSV: readonly CsvColumn<Active>[] = [
  ["person", ({ person }) => person ?? ""],
  ["name", ({ name }) => name ?? ""],
  ["subject", ({ subject }) => subject],
  ["relationship_id", (each) => each.relationship_id],
  ["type", (each) => each.relationship_type],
  ["roles", ({ roles }) => roles.join(";")],
  ["valid_from", (each) => each.valid_from ?? ""],
  ["valid_until", (each) => each.valid_until ?? ""],
  ["status", (each) => each.effective_status],
  ["last_sequence", (each) => `${each.last_sequence}`],
];

/** The question of a list of active relationships. */
interface Listed {
  readonly asked: Asked;
  readonly time?: Partial<ParsedTime>;
  readonly now: Date;
  /** The person or key asked about, for the heading. */
  readonly whose?: string | undefined;
  isListed(each: RelationshipState): boolean;
}

/** Writes the relationships that are effective at a time. */
function writeActive(
  call: Call<ReportValues>,
  people: People,
  { feed, issuer, state }: VerifiedIssuer,
  { asked, isListed, now, time, whose }: Listed,
): void {
  const linked = people.linked((subject) => personOf(state, subject));
  const active = dump(state, { ...time, status: "active", now });
  const found = [...active.by_relationship_id.values()].filter(isListed)
    // Sorted by code units, independent of the locale.
    .sort((a, b) => a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : 0)
    .map((each): Active => {
      const { person, name } = linked.named(each.subject);
      return { ...shownOf(each), person, name };
    });
  if (call.format === "json") {
    return writeJson(call.io, found.map((each) => ({ ...each, asked })));
  }
  const title = `Active relationships of ${issuer}${
    describeAsked({ ...asked, whose }, now)
  }`;
  writeReport(call, {
    heading: title,
    title,
    about: counted(found.length, "relationship"),
    feed: { issuer, ...feed },
    columns: COLUMNS,
    csv: [
      ...CSV,
      ...Object.entries(asked)
        .map(([name, value]) =>
          [`asked_${name}`, () => `${value ?? ""}`] as const
        ),
    ],
    rows: found.toSorted(byName(linked, ({ subject }) => subject)),
    empty: "nobody",
  });
}

/** Returns the members of an effective relationship that JSON has. */
function shownOf(each: RelationshipState) {
  return {
    subject: each.subject,
    relationship_id: each.relationship_id,
    relationship_type: each.relationship_type,
    roles: each.roles,
    valid_from: each.valid_from,
    valid_until: each.valid_until,
    effective_status: "active" as const,
    last_sequence: each.last_sequence,
  };
}

/** Returns the question as the end of a heading. */
function describeAsked(
  { as_of, at, role, type, until, whose }: Asked & Pick<Listed, "whose">,
  now: Date,
): string {
  const words = [
    whose === undefined ? "" : `of ${whose}`,
    role === null ? "" : `with role ${role}`,
    type === null ? "" : `of type ${type}`,
    until === undefined ? "" : `that end by ${toSecond(until)}`,
    `at ${at ?? toSecond(formatInstant(instantOf(now)))}`,
    as_of === null ? "" : `as known at ${as_of}`,
  ];
  return words.filter((word) => word !== "").map((word) => `, ${word}`)
    .join("");
}
