/** An audit as a table for spreadsheets and as a page that prints. @module */

import { escapeInvisible } from "@sig/core";
import type { Names } from "../people/names.ts";
import type { AuditEntry } from "./relationship_changes.ts";

/** Who gained or lost what between two instants. */
export interface AuditReport {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the feed's last event. */
  readonly last_sequence: number;
  /** Only what came after, or null for the beginning. */
  readonly from: string | null;
  /** Only what came until then; null for an empty feed. */
  readonly to: string | null;
  /** In the order of time. */
  readonly entries: readonly AuditEntry[];
}

/** The span of a report, in words. */
export function describeSpan(from: string | null, to: string | null): string {
  return `${from === null ? "from the beginning" : `after ${from}`} ${
    to === null ? "on" : `until ${to}`
  }`;
}

/** What people should know of an entry beside what it is. */
export function noteOf(entry: AuditEntry): string {
  const { cause, reason_code, effective_at, backdated } = entry;
  return [
    cause === "valid_from" ? "began by itself" : "",
    cause === "valid_until" ? "ended by itself" : "",
    reason_code ?? "",
    ...differencesOf(entry),
    backdated
      ? `backdated to ${effective_at ?? entry.after?.valid_until ?? ""}`
      : "",
    entry.known_at === entry.at ? "" : `known from ${entry.known_at} on`,
  ].filter((part) => part !== "").join(", ");
}

/** What an event made different, but for the roles that are told elsewhere. */
function differencesOf(
  { before, after, roles_gained, roles_lost }: AuditEntry,
): readonly string[] {
  if (before === null || after === null) return [];
  const found = (["relationship_type", "valid_from", "valid_until"] as const)
    .filter((name) => before[name] !== after[name])
    .map((name) =>
      `${name} ${before[name] ?? "none"} → ${after[name] ?? "none"}`
    );
  if (roles_gained.length + roles_lost.length > 0) return found;
  const had = new Set(before.roles);
  const has = new Set(after.roles);
  if (had.symmetricDifference(has).size > 0) {
    // Of what holds neither before nor after, nobody gained or lost a role.
    const words = [had, has].map((roles) => [...roles].join(" ") || "none");
    found.push(`roles ${words.join(" → ")}`);
  }
  return found.length > 0 ? found : ["nothing that a check looks at"];
}

const CSV_COLUMNS = [
  ...["time", "what", "cause", "name", "subject", "relationship_id", "type"],
  ...["roles_gained", "roles_lost", "valid_from", "valid_until"],
  ...["reason_code", "reason", "effective_at", "backdated"],
  ...["sequence", "event_id", "kid", "known_at"],
];

/** The entries as CSV (RFC 4180), safe to open in a spreadsheet. */
export function auditCsv({ entries }: AuditReport, names: Names): string {
  const rows = entries.map((entry) => {
    const grant = entry.after ?? entry.before;
    return [
      ...[entry.at, entry.kind, entry.cause, names.get(entry.subject) ?? ""],
      ...[entry.subject, entry.relationship_id],
      grant?.relationship_type ?? "",
      ...[entry.roles_gained.join(";"), entry.roles_lost.join(";")],
      ...[grant?.valid_from ?? "", grant?.valid_until ?? ""],
      ...[entry.reason_code ?? "", entry.reason ?? ""],
      ...[entry.effective_at ?? "", entry.backdated ? "yes" : ""],
      ...[`${entry.sequence}`, entry.event_id, entry.kid, entry.known_at],
    ];
  });
  return [CSV_COLUMNS, ...rows]
    .map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/**
 * In quotes always; what a spreadsheet would run is made text, also behind
 * blanks and in the full width of East Asian keyboards.
 */
function csvCell(value: string): string {
  const text = escapeInvisible(value);
  const shown = /^\s*[=+\-@＝＋－＠]/.test(text) ? `'${text}` : text;
  return `"${shown.replaceAll('"', '""')}"`;
}

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; overflow-wrap: anywhere }
ol { list-style: none; margin: 0; padding: 0; border-left: 2px solid }
li { margin: 0 0 1rem; padding-left: 1rem; break-inside: avoid }
time { font-variant-numeric: tabular-nums; white-space: nowrap }
code { overflow-wrap: anywhere }
.kind { font-weight: bold }
.backdated { border: 2px solid; padding: 0 .25rem; font-weight: bold }
@media print { body { margin: 0; max-width: none; font-size: 10pt } }
`.trim();

/** The report as one page without script or anything from elsewhere. */
export function auditPage(report: AuditReport, names: Names): string {
  const { issuer, from, to, entries, last_sequence } = report;
  const count = (kind: AuditEntry["kind"]) =>
    entries.filter((entry) => entry.kind === kind).length;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Audit of ${text(issuer)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Audit of ${text(issuer)}</h1>
<p>${text(describeSpan(from, to))}; the feed ends at event ${last_sequence}. ${
    count("gained")
  } gained, ${count("lost")} lost, ${count("changed")} changed, ${
    count("recorded")
  } only recorded.</p>
${
    entries.length === 0
      ? "<p>Nothing happened.</p>"
      : `<ol>\n${entries.map((entry) => item(entry, names)).join("\n")}\n</ol>`
  }
</main>
</body>
</html>
`;
}

function item(entry: AuditEntry, names: Names): string {
  const name = names.get(entry.subject);
  const who = name === undefined
    ? `<code>${text(entry.subject)}</code>`
    : `${text(name)} (<code>${text(entry.subject)}</code>)`;
  const type = (entry.after ?? entry.before)?.relationship_type ?? "";
  const until = entry.after?.valid_until ?? null;
  const roles = [
    ...entry.roles_gained.map((role) => `+${role}`),
    ...entry.roles_lost.map((role) => `−${role}`),
  ].join(", ");
  const note = noteOf(entry);
  return `<li><time datetime="${text(entry.at)}">${text(entry.at)}</time>
<span class="kind">${entry.kind}</span>: ${who}, ${text(type)}${
    roles === "" ? "" : `; roles ${text(roles)}`
  }${until === null ? "" : `; until <time>${text(until)}</time>`}${
    note === ""
      ? ""
      : `<br><span${
        entry.backdated || entry.known_at !== entry.at
          ? ' class="backdated"'
          : ""
      }>${text(note)}</span>`
  }${entry.reason === null ? "" : `<br>${text(entry.reason)}`}
<br>relationship <code>${
    text(entry.relationship_id)
  }</code>, event ${entry.sequence} <code>${
    text(entry.event_id)
  }</code>, key <code>${text(entry.kid)}</code></li>`;
}

/** Text of a feed as HTML text or attribute. */
function text(value: string): string {
  return escapeInvisible(value).replaceAll(
    /[&<>"']/g,
    (sign) => `&#${sign.charCodeAt(0)};`,
  );
}
