/** Fetching the documents of did:web subjects, a share for each client. @module */

import { Quota } from "@sig/api/http";
import type { FetchPolicy } from "@sig/consumer";
import { SigError } from "@sig/core";
import { SUBJECTS_EACH_CLIENT } from "../login/out_of_place.ts";
import {
  createFetchedSubjectKeys,
  type LoginKeyResolver,
  SUBJECT_TIMEOUT_MS,
} from "../login/subject_key.ts";

/**
 * Makes what finds the keys for the requests of one client: hosts that it names
 * and that never answer keep out no subjects of others. Where the platform does
 * not say who asks, all share what there is.
 *
 * @returns for the client's network address, where that is known.
 * @throws {SigError} from the resolver also `overloaded`.
 */
export function createSubjectsOfClients(
  policy: FetchPolicy,
): (client: string | undefined) => LoginKeyResolver {
  const shares = new Quota(Infinity, SUBJECTS_EACH_CLIENT);
  const resolveKey = createFetchedSubjectKeys(policy);
  return (client) => async (kid, challengeId) => {
    if (client === undefined || !kid.startsWith("did:web:")) {
      return await resolveKey(kid, challengeId);
    }
    if (!shares.take(client)) throw tooMany();
    try {
      return await resolveKey(kid, challengeId);
    } finally {
      shares.release(client);
    }
  };
}

function tooMany(): SigError {
  return new SigError(
    "overloaded",
    "Cannot log in: too many DID documents are being fetched for this client",
    {
      context: {
        retry_after_seconds: SUBJECT_TIMEOUT_MS / 1000,
        hint: "Send the same attestation again in a moment.",
      },
    },
  );
}
