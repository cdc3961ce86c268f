/** `docs/reference/errors.md`, from the registry and the texts. @module */

import {
  ERROR_CATEGORIES,
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
} from "@sig/core";
import { CATEGORY_TEXTS, ERROR_TEXTS } from "./error_texts.ts";

/** Makes the page. */
export function errorPage(): string {
  const sections = ERROR_CATEGORIES.map(section);
  return `# Error codes

Every expected failure has a \`code\` that is never renamed or reused; its
message may change. Programs branch on the code, or on the category that stands
above it here. In a library it is \`error.code\` of a \`SigError\`, on the command
line it stands before the message (\`--format json\`: a problem object), and over
HTTP the body is \`application/problem+json\` (RFC 9457) with the same \`code\`. The
number behind each code is its HTTP status.

**A failure is never a deny.** The command line ends with exit code 2, except
that \`sig verify\` ends with 1 when it has read the documents and found a fault.

${sections.join("\n")}`;
}

function section(category: ErrorCategory): string {
  const rows = Object.entries(ERROR_CODES)
    .filter(([, info]) => info.category === category)
    .map(([code, { status }]) => {
      const { meaning, next } = ERROR_TEXTS[code as ErrorCode];
      return `- **\`${code}\`** (${status}). ${meaning} _Next:_ ${next}`;
    });
  return `## \`${category}\`

${CATEGORY_TEXTS[category]}

${rows.join("\n")}
`;
}
