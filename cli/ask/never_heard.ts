/** What tells a misspelt name from one about which all is well. @module */

import { isDid, quote } from "@sig/core";
import type { Call } from "../command_line/command.ts";
import { warn } from "../output/write.ts";

/** Says that no event is about a subject, and what a word may have meant. */
export function neverHeardOf(subject: string): string {
  const said = `the feed has never heard of ${quote(subject)}`;
  return isDid(subject)
    ? said
    : `${said}, which is no DID: did you mean did:web:${subject}?`;
}

/**
 * {@linkcode neverHeardOf} for a person who looks at an empty list; a program
 * sees that it is empty, and expects nothing on stderr.
 */
export function tellStranger(call: Call, name: StrangeName): void {
  if (!call.io.isTerminal("stderr")) return;
  warn(
    call,
    "subject" in name
      ? neverHeardOf(name.subject)
      : `no event is about relationship ${quote(name.relationshipId)}`,
  );
}

/** What a list was to be about. */
export type StrangeName =
  | { readonly subject: string }
  | { readonly relationshipId: string };
