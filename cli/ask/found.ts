/** Making a finding of its code. @module */

import type { Finding } from "./finding.ts";
import { FINDING_TEXTS, type FindingCode } from "./finding_texts.ts";

/** A finding, with the texts of its code. */
export function found(
  code: FindingCode,
  what: string,
  where: string,
  mend: string = FINDING_TEXTS[code].mend,
): Finding {
  const { severity, why } = FINDING_TEXTS[code];
  return { code, severity, what, why, mend, where };
}
