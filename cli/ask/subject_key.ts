/** The key that answered an invitation. @module */

import { fetchSubjectKey } from "@sig/consumer";
import { type AttestationKeyResolver, resolveDidKey } from "@sig/jose";
import type { Call } from "../command_line/command.ts";
import { type PolicyValues, sourceOptions } from "./source_flags.ts";

/**
 * Finds a did:key in itself, and the key of a did:web under `authentication` of
 * its published document (docs/protocol.md §7).
 *
 * @throws {SigError} from what it returns: as `fetchSubjectKey`, and for what is
 * not a DID of these two.
 */
export function createSubjectKeys(
  call: Call<PolicyValues>,
): AttestationKeyResolver {
  const { allowPrivate } = sourceOptions(call);
  return async (kid) =>
    kid.startsWith("did:web:")
      ? await fetchSubjectKey(kid, { allowPrivate })
      : await resolveDidKey(kid);
}
