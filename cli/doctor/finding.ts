/** Findings of `sig doctor`: tables of rules, and SARIF. @module */

import { firstOf } from "../output/write.ts";
import { VERSION } from "../terminal/version.ts";

/** The severity of a finding. */
type Severity = "error" | "warning" | "info";

/** A finding, as it is printed (docs/reference/findings.md). */
export interface Finding {
  /** The kind of finding, stable across versions. */
  readonly code: string;
  /**
   * `error`: answers are wrong or missing. `warning`: this may happen. `info`:
   * a possible improvement.
   */
  readonly severity: Severity;
  /** Description of the problem. */
  readonly what: string;
  /** Consequence of the problem. */
  readonly why: string;
  /** How to fix it. */
  readonly mend: string;
  /** The affected document, file, key or event. */
  readonly where: string;
}

/** A place; or a description with a place and, if it has its own, a fix. */
export type Found =
  | string
  | readonly [what: string, where: string, mend?: string];

/** A kind of finding. It examines data that was already read, without I/O. */
export interface FindingRow<X> {
  readonly severity: Severity;
  /**
   * Condition of the finding, for the reference; also its default description.
   */
  readonly when: string;
  readonly why: string;
  readonly mend: string;
  find(examined: X): readonly Found[];
}

/** Rows by code. */
export interface FindingTable<X> {
  readonly [code: string]: FindingRow<X>;
}

/** Returns the findings of a table, in its order. */
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

/** Converts a text of the reference to a message. */
function plain(text: string): string {
  const [first = "", ...rest] = text.replaceAll("`", "");
  // Acronyms and header names keep their case.
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
 * Returns findings as SARIF 2.1.0, which code hosts show. GitHub shows only
 * results with a file, so each has one in addition to the exact place.
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

/** Returns the document of a place, relative to the issuer's directory. */
function fileOf(where: string): string {
  const path = /\.well-known(?:\/[\w-][\w.-]*)+/.exec(where)?.[0];
  if (path !== undefined) return path;
  return where.startsWith("key ")
    ? ".well-known/jwks.json"
    : /^(?:events?|lines?|relationships?|sequence) /.test(where)
    ? ".well-known/sig/events.jsonl"
    : ".well-known/sig.json";
}
