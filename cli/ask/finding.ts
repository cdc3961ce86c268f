/** What a doctor finds, and how it is told. @module */

import { VERSION } from "../terminal/version.ts";

/** How much it matters. */
export type Severity = "error" | "warning" | "info";

/** Something that should be looked at (INTERFACES §2b). */
export interface Finding {
  /** Stable: what kind of trouble. */
  readonly code: string;
  /** `error`: answers are wrong or missing. `warning`: they may become so. */
  readonly severity: Severity;
  /** What was found. */
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** How to mend it. */
  readonly mend: string;
  /** A document, a file, a key or an event. */
  readonly where: string;
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
