/** The scopes of a request. @module */

import { list, type Schema, text } from "@sig/api/requests";

/** RFC 6749 §3.3: printable ASCII without space, quote and backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Scopes of a challenge at most (PROTOCOL §7). */
const MAX_SCOPES = 32;

/**
 * Characters of a scope at most: 32 of them fit in an attestation, and 100,000
 * challenges in memory.
 */
const MAX_SCOPE_LENGTH = 128;

/** Scope tokens, each once. */
export const SCOPES: Schema<readonly string[]> = list({
  item: text(
    { maxLength: MAX_SCOPE_LENGTH },
    (scope) =>
      SCOPE_TOKEN.test(scope)
        ? undefined
        : "it must be a scope token: printable ASCII without space, quote and backslash",
  ),
  minItems: 0,
  maxItems: MAX_SCOPES,
  unique: true,
});
