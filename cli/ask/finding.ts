/** What a doctor finds, and how it is told. @module */

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

/** Findings as SARIF 2.1.0, which code hosts show. */
export function sarif(findings: readonly Finding[]): unknown {
  const first = new Map(findings.map((each) => [each.code, each]));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: {
        driver: {
          name: "sig doctor",
          rules: [...first.values()].map(({ code, why, mend }) => ({
            id: code,
            shortDescription: { text: why },
            help: { text: mend },
          })),
        },
      },
      results: findings.map(({ code, severity, what, mend, where }) => ({
        ruleId: code,
        level: LEVELS[severity],
        message: { text: `${what}. ${mend}` },
        locations: [{ logicalLocations: [{ fullyQualifiedName: where }] }],
      })),
    }],
  };
}
