/**
 * `docs/reference/findings.md`, generated from the tables of `sig doctor`.
 * @module
 */

import { DISK_FINDINGS } from "../../cli/doctor/disk.ts";
import { PEOPLE_FINDINGS } from "../../cli/doctor/people.ts";
import { FEED_FINDINGS } from "../../cli/doctor/feed.ts";
import type { FindingRow } from "../../cli/doctor/finding.ts";
import { PROOF_FINDINGS } from "../../cli/doctor/proofs.ts";
import { PUBLISHED_FINDINGS } from "../../cli/doctor/published.ts";
import { REFUSED_FINDINGS, SERVED_FINDINGS } from "../../cli/doctor/served.ts";

/** The texts of a finding in the reference. */
type FindingText = Pick<
  FindingRow<never>,
  "severity" | "when" | "why" | "mend"
>;

/** The findings by section. */
export const SECTIONS: readonly (readonly [
  string,
  string,
  { readonly [code: string]: FindingText },
])[] = [
  ["Feed and keys", "Checked for every source.", FEED_FINDINGS],
  ["Proofs", "Checked if the issuer publishes proofs.", PROOF_FINDINGS],
  [
    "How documents are served",
    "Checked for fetched sources. Each document is requested as a reader and as a browser would.",
    { ...REFUSED_FINDINGS, ...SERVED_FINDINGS },
  ],
  [
    "Permissions and people",
    "Checked for directories, on the machine that signs.",
    { ...DISK_FINDINGS, ...PEOPLE_FINDINGS },
  ],
  [
    "A published copy",
    "Checked with `--against`, which compares the source with its published copy.",
    PUBLISHED_FINDINGS,
  ],
];

/** Returns the page as Markdown. */
export function findingPage(): string {
  return `# Findings of \`sig doctor\`

Each finding has a \`code\` that is never renamed or reused, a severity, a
description, the reason, a fix and a place (\`--format json\`).
\`error\`: answers are wrong or missing, and the exit code is 1. \`warning\`:
this may happen later. \`info\`: a possible improvement.

Errors of readers are findings too, with the severity \`error\` and their
[error code](errors.md), and warnings of readers with the severity \`warning\`
and their code (\`media_type_unexpected\`, \`issued_at_future\`,
\`did_document_missing\` and others). A source that can't be read at all is not a
finding: the exit code is 2.

${
    SECTIONS.map(([title, about, findings]) =>
      `## ${title}

${about}

${
        Object.entries(findings).map(([code, { mend, severity, when, why }]) =>
          `- **\`${code}\`** (${severity}). ${when}. ${why}. _Fix:_ ${mend}.`
        ).join("\n")
      }
`
    ).join("\n")
  }`;
}
