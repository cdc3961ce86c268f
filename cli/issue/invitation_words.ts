/** Invitations in words, for whoever gives one and whoever gets one. @module */

import type { InvitationTerms } from "@sig/jose";
import { safe } from "../command_line/output.ts";

/** A label and what it says. */
export type Line = readonly [label: string, value: string];

/** What an invitation offers. */
export function termLines(terms: InvitationTerms): readonly Line[] {
  const { roles, valid_from, valid_until } = terms;
  const from = valid_from === undefined ? "" : `from ${valid_from} `;
  const until = valid_until === undefined
    ? "without an end"
    : `until ${valid_until}`;
  return [
    ["as", terms.relationship_type],
    ["roles", roles.length === 0 ? "none" : roles.join(", ")],
    ["valid", `${from}${until}`],
  ];
}

/** Lines under each other; no value can pose as another line. */
export function writeLines(lines: readonly Line[]): string {
  return lines.map(([label, value]) => `${label.padEnd(13)}${safe(value)}\n`)
    .join("");
}
