import { type Instant, parseTimestamp } from "@sig/core";
import { usageError } from "@sig/api/flags";
import type { Call, Command } from "../command_line/command.ts";
import {
  safe,
  toSecond,
  writeJson,
  writeTable,
  writeWarnings,
} from "../command_line/output.ts";
import {
  auditCsv,
  auditPage,
  type AuditReport,
  describeSpan,
  noteOf,
} from "../ask/audit_report.ts";
import {
  type AuditEntry,
  RelationshipChanges,
} from "../ask/relationship_changes.ts";
import { type Names, NAMES_FLAG } from "../people/names.ts";
import {
  namesOf,
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_WORD,
  sourceOf,
  withSource,
} from "../ask/source_flags.ts";

/** `sig audit` */
export const audit: Command = {
  name: "audit",
  summary: "report who gained or lost what, when, and by which key",
  description:
    "What came to be known between two instants: after --from, up to and with --to.\nWithout --from it begins with the feed, without --to it ends with its latest\ntime, so that the same feed gives the same bytes at any time. Times are the\nissuer's word (issued_at); an event that is dated before one ahead of it counts\nwhen that one was issued, and is marked, as endings that are dated back are.\nWhat begins or ends by itself is reported too.",
  positionals: [SOURCE_WORD],
  flags: [
    SOURCE_FLAG,
    { name: "from", value: "TIME", help: "only what was not known by then" },
    { name: "to", value: "TIME", help: "only what was known by then" },
    NAMES_FLAG,
    ...POLICY_FLAGS,
  ],
  formats: ["csv", "html"],
  examples: [
    "sig audit acme.example --from 2026-01-01T00:00:00Z --to 2026-03-31T23:59:59Z",
    "sig audit ./acme.example --format html > audit.html",
  ],
  async run(call) {
    const [from, to] = [readTime(call, "from"), readTime(call, "to")];
    const source = sourceOf(call);
    const names = await namesOf(call, source);
    const { verifyIssuer } = await import("@sig/consumer");
    const changes = new RelationshipChanges();
    const verified = await withSource(
      call,
      source,
      (location, options) =>
        verifyIssuer(location, {
          ...options,
          onEvent: (event) => changes.add(event),
        }),
    );
    const { issuer, state } = verified;
    const until = to ?? parseTimestamp(changes.knownUntil);
    const report: AuditReport = {
      issuer,
      last_sequence: state.last_sequence,
      from: call.text("from") ?? null,
      to: call.text("to") ?? changes.knownUntil,
      entries: until === undefined ? [] : changes.between(from, until),
    };
    writeWarnings(call, verified.warnings, verified.source);
    writeReport(call, report, names);
    return 0;
  },
};

function readTime(call: Call, flag: string): Instant | undefined {
  const text = call.text(flag);
  const instant = parseTimestamp(text);
  if (text === undefined || instant !== undefined) return instant;
  throw usageError(`--${flag} must be an RFC 3339 UTC timestamp`, {
    flag: `--${flag}`,
    hint: "For example: 2026-01-31T09:00:00Z.",
  });
}

function writeReport(call: Call, report: AuditReport, names: Names): void {
  const { io } = call;
  const format = call.text("format");
  if (format === "json") return writeJson(io, report);
  if (format === "csv" || format === "html") {
    const make = format === "csv" ? auditCsv : auditPage;
    return io.stdout(make(report, names));
  }
  const { issuer, from, to, entries } = report;
  io.stdout(`${safe(issuer)}, ${safe(describeSpan(from, to))}\n`);
  if (entries.length === 0) return io.stdout("nothing happened\n");
  writeTable(
    call,
    [
      { title: "time" },
      {
        title: "what",
        colour: (kind) =>
          kind === "gained" ? "green" : kind === "lost" ? "red" : "yellow",
      },
      { title: "name" },
      { title: "subject" },
      { title: "type" },
      { title: "roles" },
      { title: "note" },
      { title: "relationship" },
      { title: "key" },
      { title: "event" },
    ],
    entries.map((entry) => row(entry, names)),
  );
}

function row(entry: AuditEntry, names: Names): readonly string[] {
  const { roles_gained: more, roles_lost: less } = entry;
  return [
    toSecond(entry.at),
    entry.kind,
    names.get(entry.subject) ?? "",
    entry.subject,
    (entry.after ?? entry.before)?.relationship_type ?? "",
    [...more.map((role) => `+${role}`), ...less.map((role) => `-${role}`)]
      .join(" "),
    noteOf(entry),
    entry.relationship_id,
    entry.kid,
    `#${entry.sequence}`,
  ];
}
