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
  type FeedState,
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
import { typeFlag } from "../issue/flags.ts";
import type { Call } from "../command_line/command.ts";
import { did, role } from "../command_line/values.ts";
import { csvOf, pageOf } from "../output/report.ts";
import { type TableColumn, writeTable } from "../output/table.ts";
import {
  counted,
  type Output,
  safe,
  safeJson,
  statusColour,
  toSecond,
  writeJson,
} from "../output/write.ts";
import type { People } from "@sig/issuer/people";
import { nameIn, PEOPLE_FLAG } from "../people/people.ts";
import {
  peopleOf,
  readState,
  sourceCommand,
  TIME_FLAGS,
  timeOf,
  verifySource,
  warnUnknown,
} from "../ask/source_flags.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig dump-state` */
export const dumpState = sourceCommand({
  subjects: "person",
  flags: {
    ...TIME_FLAGS,
    subject: optional(did, "only relationships about this subject"),
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
    const { status, subject } = call.flags;
    const time = timeOf(call.flags);
    const { state } = await readState(call, source, time);
    const now = call.io.now();
    const found = dump(state, { ...time, subject, status, now });
    if (call.format === "json") {
      call.io.stdout(`${safeJson(stringifyDump(found))}\n`);
    } else writeState(call, found);
    const isUnknown = subject !== undefined && time.asOf === undefined &&
      state.history.relationshipsOf(subject).size === 0;
    if (isUnknown) warnUnknown(call, { subject });
    return 0;
  },
});

/** `sig who` */
export const who = sourceCommand({
  description:
    "Lists relationships that are effective: not ended, not expired, and already\nbegun. --role and --type select; --at and --as-of ask about another time.",
  flags: {
    role: optional(role, "only those with this role"),
    ...typeFlag("only relationships of this type"),
    ...TIME_FLAGS,
    ...PEOPLE_FLAG,
    ...PIN_FLAGS,
  },
  formats: ["csv", "html"],
  examples: [
    "sig who acme.example --role refund",
    "sig who ./acme.example --type contractor --at 2026-06-30T00:00:00Z --format json",
    "sig who acme.example --format html > members.html",
  ],
  async run(call, source) {
    const { role, type } = call.flags;
    const time = timeOf(call.flags);
    const people = await peopleOf(call, source);
    const read = await readState(call, source, time);
    const found = listActive(read.state, time, call.io.now()).filter((each) =>
      (role === undefined || each.roles.includes(role)) &&
      (type === undefined || each.relationship_type === type)
    );
    writeActive(call, found, people, read);
    return 0;
  },
});

/** `sig expiring` */
export const expiring = sourceCommand({
  flags: {
    within: required(duration, "how soon from now, such as 30d"),
    ...PEOPLE_FLAG,
  },
  examples: [
    "sig expiring acme.example --within 30d",
    "sig expiring ./acme.example --within 12h --format json",
  ],
  async run(call, source) {
    const people = await peopleOf(call, source);
    const verified = await verifySource(call, source);
    const now = call.io.now();
    const seconds = Math.ceil(call.flags.within / 1000);
    const last = addSeconds(instantOf(now), seconds);
    const found = listActive(verified.state, {}, now)
      .filter(({ valid_until }) => {
        const end = parseTimestamp(valid_until);
        return end !== undefined && compareInstants(end, last) <= 0;
      });
    writeActive(call, found, people, { ...verified, sha256: undefined });
    return 0;
  },
});

/** Lists the relationships that are effective at a time, sorted by subject. */
function listActive(
  state: FeedState,
  time: Partial<ParsedTime>,
  now: Date,
) {
  const found = dump(state, { ...time, status: "active", now });
  return [...found.by_relationship_id.values()].map((each) => ({
    subject: each.subject,
    relationship_id: each.relationship_id,
    relationship_type: each.relationship_type,
    roles: each.roles,
    valid_from: each.valid_from,
    valid_until: each.valid_until,
    effective_status: "active" as const,
    last_sequence: each.last_sequence,
  })).sort((a, b) =>
    // Sorted by code units, independent of the locale.
    a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : 0
  );
}

const STATUS: TableColumn = { title: "status", colour: statusColour };
const titled = (...titles: readonly string[]): readonly TableColumn[] =>
  titles.map((title) => ({ title }));

/** The columns that all tables share. */
const GRANT_COLUMNS = titled("subject", "type", "roles", "from", "until");

function grantCells(
  each: Pick<
    RelationshipState,
    "subject" | "relationship_type" | "roles" | "valid_from" | "valid_until"
  >,
): readonly string[] {
  return [
    each.subject,
    each.relationship_type,
    each.roles.join(", "),
    toSecond(each.valid_from),
    toSecond(each.valid_until),
  ];
}

function writeState(call: Output, found: StateDump): void {
  const { issuer, last_sequence, by_relationship_id, statuses } = found;
  call.io.stdout(`${safe(issuer)}, last sequence ${last_sequence}\n`);
  writeTable(
    call,
    [STATUS, ...titled("relationship"), ...GRANT_COLUMNS, ...titled("ended")],
    [...by_relationship_id].map(([id, state]) => [
      statuses.get(id)!,
      id,
      ...grantCells(state),
      toSecond(state.revoked_effective_at ?? null),
    ]),
  );
}

const COLUMNS = [
  ...[...titled("name"), ...GRANT_COLUMNS],
  STATUS,
  ...titled("relationship"),
];

const CSV_COLUMNS = [
  "name",
  "subject",
  "relationship_id",
  "type",
  "roles",
  "valid_from",
  "valid_until",
  "status",
  "last_sequence",
];

function writeActive(
  call: Pick<Call, "format" | "io" | "ownFormat">,
  found: ReturnType<typeof listActive>,
  people: People,
  { issuer, feed, sha256, state }:
    & Pick<
      VerifiedIssuer,
      "issuer" | "feed" | "state"
    >
    & {
      readonly sha256: string | undefined;
    },
): void {
  const { io, ownFormat } = call;
  if (call.format === "json") return writeJson(io, found);
  const linked = people.linked((subject) => personOf(state, subject));
  const nameOf = (subject: string) => nameIn(linked, subject);
  if (ownFormat === "csv") {
    const rows = found.map((each) => [
      nameOf(each.subject),
      each.subject,
      each.relationship_id,
      each.relationship_type,
      each.roles.join(";"),
      each.valid_from ?? "",
      each.valid_until ?? "",
      each.effective_status,
      `${each.last_sequence}`,
    ]);
    return io.stdout(csvOf(CSV_COLUMNS, rows));
  }
  const rows = found.map((each) => [
    nameOf(each.subject),
    ...grantCells(each),
    each.effective_status,
    each.relationship_id,
  ]);
  if (ownFormat === "html") {
    return io.stdout(pageOf({
      title: `Active relationships of ${issuer}`,
      about: counted(found.length, "relationship"),
      feed: { issuer, ...feed, sha256 },
      columns: COLUMNS.map(({ title }) => title),
      rows,
      empty: "Nobody.",
    }));
  }
  if (rows.length === 0) return io.stdout("nobody\n");
  writeTable(call, COLUMNS, rows);
}
