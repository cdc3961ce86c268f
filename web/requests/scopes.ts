/** The scopes of a request. @module */

import { list, type Schema, text } from "@sig/api/requests";
import { isScopeToken, MAX_SCOPES } from "@sig/jose";

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
      isScopeToken(scope)
        ? undefined
        : "it must be a scope token: printable ASCII without space, quote and backslash",
  ),
  minItems: 0,
  maxItems: MAX_SCOPES,
  unique: true,
});
