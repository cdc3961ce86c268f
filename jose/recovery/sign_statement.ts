/** Signs statements of a recovery key (docs/protocol.md §14.1). @module */

import { signCompactJws } from "../event/jws.ts";
import type { SigningKey } from "../keys/signing_key.ts";
import { STATEMENT_TYP, type StatementClaims } from "./statement.ts";

/**
 * Signs a statement with a recovery key, which `claims.key` names. Verify the
 * chain with `readRecovery` before publishing it.
 */
export async function signStatement(
  claims: StatementClaims,
  key: SigningKey,
): Promise<string> {
  const header = { alg: "EdDSA", typ: STATEMENT_TYP };
  return await signCompactJws(header, claims, key);
}
