/** What `sig doctor` finds: rows that judge what was read, and SARIF. @module */

import { firstOf } from "../output/write.ts";
import { VERSION } from "../terminal/version.ts";

/** How much it matters. */
type Severity = "error" | "warning" | "info";

/** A finding, as it is printed (docs/reference/findings.md). */
export interface Finding {
  /** Stable: the kind of finding. */
  readonly code: string;
  /** `error`: answers are wrong or missing. `warning`: that may happen. */
  readonly severity: Severity;
  /** What was found. */
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** How to fix it. */
  readonly mend: string;
  /** A document, a file, a key or an event. */
  readonly where: string;
}

/**
 * Where something was found, or what and where, and how to fix it if not as its
 * row says.
 */
export type Found =
  | string
  | readonly [what: string, where: string, mend?: string];

/** A kind of finding: judges what was read, and asks nobody. */
export interface FindingRow<X> {
  /** As {@linkcode Finding.severity}. */
  readonly severity: Severity;
  /** When it is found: for the reference, and what a finding says by default. */
  readonly when: string;
  /** As {@linkcode Finding.why}. */
  readonly why: string;
  /** As {@linkcode Finding.mend}. */
  readonly mend: string;
  /** Judges. */
  find(examined: X): readonly Found[];
}

/** Rows by their codes. */
export interface FindingTable<X> {
  readonly [code: string]: FindingRow<X>;
}

/** The findings of a table, in its order. */
export function judge<X>(
  table: FindingTable<X>,
  examined: X,
): readonly Finding[] {
  return Object.entries(table).flatMap(([code, row]) =>
    row.find(examined).map((found) => {
      const [what, where, mend = row.mend] = typeof found === "string"
        ? [plain(row.when), found]
        : found;
      return { code, severity: row.severity, what, why: row.why, mend, where };
    })
  );
}

/** Text of the reference as a message has it. */
function plain(text: string): string {
  const [first = "", ...rest] = text.replaceAll("`", "");
  // An acronym and the name of a header stay as they are.
  const isWord = /^[A-Z][a-z]* /.test(text);
  return [isWord ? first.toLowerCase() : first, ...rest].join("");
}

/** `event 1, 2, 3, 4, 5 and 7 more` */
export function places(
  what: string,
  all: readonly (string | number)[],
): string {
  return all.length === 0 ? "documents" : `${what} ${firstOf(all)}`;
}

const LEVELS = { error: "error", warning: "warning", info: "note" } as const;

/**
 * Findings as SARIF 2.1.0, which code hosts show. GitHub shows no result
 * without a file, so each has one beside the exact place.
 */
export function sarif(findings: readonly Finding[]): unknown {
  const codes = [...new Set(findings.map(({ code }) => code))];
  const rules = codes.map((code) => {
    const { mend, severity, why } = findings.find((each) =>
      each.code === code
    )!;
    return {
      id: code,
      shortDescription: { text: why },
      help: { text: mend },
      defaultConfiguration: { level: LEVELS[severity] },
    };
  });
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: { driver: { name: "sig doctor", version: VERSION, rules } },
      results: findings.map(({ code, severity, what, mend, where }) => ({
        ruleId: code,
        ruleIndex: codes.indexOf(code),
        level: LEVELS[severity],
        message: { text: `${what}. ${mend}` },
        locations: [{
          physicalLocation: { artifactLocation: { uri: fileOf(where) } },
          logicalLocations: [{ fullyQualifiedName: where }],
        }],
      })),
    }],
  };
}

/** The document that a place is about, as it lies in an issuer's directory. */
function fileOf(where: string): string {
  const path = /\.well-known(?:\/[\w-][\w.-]*)+/.exec(where)?.[0];
  if (path !== undefined) return path;
  return where.startsWith("key ")
    ? ".well-known/jwks.json"
    : /^(?:events?|lines?|relationships?|sequence) /.test(where)
    ? ".well-known/sig/events.jsonl"
    : ".well-known/sig.json";
}
