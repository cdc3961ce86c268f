/** What tells a misspelt subject from one about whom all is well. @module */

import { isDid, quote } from "@sig/core";

/** Says that no event is about a subject, and what a word may have meant. */
export function neverHeardOf(subject: string): string {
  const said = `the feed has never heard of ${quote(subject)}`;
  return isDid(subject)
    ? said
    : `${said}, which is no DID: did you mean did:web:${subject}?`;
}
