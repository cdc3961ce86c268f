import {
  addSeconds,
  compareInstants,
  dumpState,
  type FeedState,
  instantOf,
  type ParsedTime,
  parseTimestamp,
  type RelationshipType,
} from "@sig/core";
import type { VerifiedIssuer } from "@sig/consumer";
import { duration, optional, required } from "@sig/api/flags";
import { typeFlag } from "../issue/flags.ts";
import { type Call, typedCommand } from "../command_line/command.ts";
import { role } from "../command_line/values.ts";
import { csvOf, pageOf } from "../output/report.ts";
import { type TableColumn, writeTable } from "../output/table.ts";
import {
  counted,
  statusColour,
  toSecond,
  writeJson,
  writeWarnings,
} from "../output/write.ts";
import { type Names, NAMES_FLAG } from "../people/names.ts";
import {
  namesOf,
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_WORD,
  sourceOf,
  TIME_FLAGS,
  timeOf,
  verifySource,
  withMemory,
} from "../ask/source_flags.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig who` */
export const who = typedCommand({
  description:
    "Lists relationships that are effective: not ended, not expired, and already\nbegun. --role and --type select; --at and --as-of ask about another time.",
  positionals: [SOURCE_WORD],
  flags: {
    ...SOURCE_FLAG,
    role: optional(role, "only those with this role"),
    ...typeFlag("only relationships of this type"),
    ...TIME_FLAGS,
    ...NAMES_FLAG,
    ...PIN_FLAGS,
    ...POLICY_FLAGS,
  },
  formats: ["csv", "html"],
  examples: [
    "sig who acme.example --role refund",
    "sig who ./acme.example --type contractor --at 2026-06-30T00:00:00Z --format json",
    "sig who acme.example --format html > members.html",
  ],
  async run(call) {
    const time = timeOf(call.flags);
    const source = sourceOf(call);
    const { role, type } = call.flags;
    const names = await namesOf(call, source);
    const isPage = call.ownFormat === "html";
    const { verifyIssuer } = await import("@sig/consumer");
    const result = await withMemory(call, source, {
      remembered: async (consumer, name) => ({
        ...(await consumer.observe(name, time)).verified,
        // A page says which bytes it is about.
        report: isPage ? await consumer.report(name) : undefined,
      }),
      plain: async (location, options) => ({
        ...await verifyIssuer(location, { ...options, digest: isPage }),
        report: undefined,
      }),
    });
    const found = listActive(result.state, time, call.io.now()).filter((each) =>
      (role === undefined || each.roles.includes(role)) &&
      (type === undefined || each.relationship_type === type)
    );
    writeWarnings(call, result.warnings, result.source);
    const { report } = result;
    const sha256 = report?.valid ? report.feed_sha256 : result.feed.sha256;
    writeActive(call, found, names, { ...result, sha256 });
    return 0;
  },
});

/** `sig expiring` */
export const expiring = typedCommand({
  positionals: [SOURCE_WORD],
  flags: {
    ...SOURCE_FLAG,
    within: required(duration, "how soon from now, such as 30d"),
    ...NAMES_FLAG,
    ...POLICY_FLAGS,
  },
  examples: [
    "sig expiring acme.example --within 30d",
    "sig expiring ./acme.example --within 12h --format json",
  ],
  async run(call) {
    const within = call.flags.within;
    const source = sourceOf(call);
    const names = await namesOf(call, source);
    const verified = await verifySource(call, source);
    const now = call.io.now();
    const last = addSeconds(instantOf(now), Math.ceil(within / 1000));
    const found = listActive(verified.state, {}, now)
      .filter(({ valid_until }) => {
        const end = parseTimestamp(valid_until);
        return end !== undefined && compareInstants(end, last) <= 0;
      });
    writeActive(call, found, names, { ...verified, sha256: undefined });
    return 0;
  },
});

/** One effective relationship, as it is printed. */
interface ActiveRelationship {
  readonly subject: string;
  readonly relationship_id: string;
  readonly relationship_type: RelationshipType;
  readonly roles: readonly string[];
  readonly valid_from: string | null;
  readonly valid_until: string | null;
  readonly effective_status: "active";
  readonly last_sequence: number;
}

/** The relationships that are effective at a time, sorted by subject. */
function listActive(
  state: FeedState,
  time: Partial<ParsedTime>,
  now: Date,
): readonly ActiveRelationship[] {
  const dump = dumpState(state, { ...time, status: "active", now });
  return [...dump.by_relationship_id.values()].map((each) => ({
    subject: each.subject,
    relationship_id: each.relationship_id,
    relationship_type: each.relationship_type,
    roles: each.roles,
    valid_from: each.valid_from,
    valid_until: each.valid_until,
    effective_status: "active" as const,
    last_sequence: each.last_sequence,
  })).sort((a, b) =>
    // By code units, as everything that programs read.
    a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : 0
  );
}

const COLUMNS: readonly TableColumn[] = [
  ...["name", "subject", "type", "roles", "from", "until"]
    .map((title) => ({ title })),
  { title: "status", colour: statusColour },
  { title: "relationship" },
];

const CSV_COLUMNS = [
  ...["name", "subject", "relationship_id", "type", "roles"],
  ...["valid_from", "valid_until", "status", "last_sequence"],
];

function writeActive(
  call: Pick<Call, "format" | "io" | "ownFormat">,
  found: readonly ActiveRelationship[],
  names: Names,
  { issuer, feed, sha256 }: Pick<VerifiedIssuer, "issuer" | "feed"> & {
    readonly sha256: string | undefined;
  },
): void {
  const { io } = call;
  const { ownFormat } = call;
  if (ownFormat === "csv") {
    const rows = found.map((each) => [
      ...[names.get(each.subject) ?? "", each.subject, each.relationship_id],
      ...[each.relationship_type, each.roles.join(";")],
      ...[each.valid_from ?? "", each.valid_until ?? ""],
      ...[each.effective_status, `${each.last_sequence}`],
    ]);
    return io.stdout(csvOf(CSV_COLUMNS, rows));
  }
  if (call.format === "json") return writeJson(io, found);
  const rows = found.map((each) => [
    names.get(each.subject) ?? "",
    each.subject,
    each.relationship_type,
    each.roles.join(", "),
    toSecond(each.valid_from),
    toSecond(each.valid_until),
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
