/** The key that answered an invitation. @module */

import { fetchSubjectKey } from "@sig/consumer";
import { type AttestationKeyResolver, resolveDidKey } from "@sig/jose";
import type { Call } from "../command_line/command.ts";

/**
 * Finds a did:key in itself, and the key of a did:web under `authentication` of
 * its published document (docs/protocol.md §7).
 *
 * @throws {SigError} from what it returns: as `fetchSubjectKey`, and for what is
 * no DID of these two.
 */
export function createSubjectKeys(call: Call): AttestationKeyResolver {
  const allowPrivate = call.on("allow-insecure");
  return async (kid) =>
    kid.startsWith("did:web:")
      ? await fetchSubjectKey(kid, { allowPrivate })
      : await resolveDidKey(kid);
}
