/** Fetching the documents of did:web subjects, a share for each client. @module */

import { clientNetwork, createClientAddress, Shares } from "@sig/api/http";
import type { FetchPolicy } from "@sig/consumer";
import { SigError } from "@sig/core";
import { SUBJECTS_EACH_CLIENT } from "../login/out_of_place.ts";
import {
  createFetchedSubjectKeys,
  SUBJECT_TIMEOUT_MS,
} from "../login/fetched_subject_keys.ts";
import type { LoginKeyResolver } from "../login/subject_keys.ts";

/** What {@linkcode createSubjectsOfClients} works with. */
export interface SubjectsOfClientsOptions {
  /** How documents are fetched. */
  readonly policy: FetchPolicy;
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustProxy?: readonly string[] | undefined;
}

/**
 * Makes what finds the keys for the requests of one client: hosts that it names
 * and that never answer keep out no subjects of others. Where the platform does
 * not say who asks, all share what there is.
 *
 * @returns for a request's headers and what the platform says of its connection.
 * @throws {SigError} `invalid_request` for what is no network; from the resolver
 * also `overloaded`.
 */
export function createSubjectsOfClients(
  { policy, trustProxy }: SubjectsOfClientsOptions,
): (headers: Headers, info: unknown) => LoginKeyResolver {
  const clientOf = createClientAddress(trustProxy);
  const shares = new Shares({ total: Infinity, each: SUBJECTS_EACH_CLIENT });
  const resolveKey = createFetchedSubjectKeys(policy);
  return (headers, info) => async (kid, challengeId) => {
    const address = clientOf(headers, info);
    if (address === undefined || !kid.startsWith("did:web:")) {
      return await resolveKey(kid, challengeId);
    }
    const client = clientNetwork(address);
    if (!shares.take(client)) throw tooMany();
    try {
      return await resolveKey(kid, challengeId);
    } finally {
      shares.giveBack(client);
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
