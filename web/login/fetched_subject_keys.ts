/** Keys of subjects, those of did:web fetched for each login. @module */

import { fetchDocument, type FetchPolicy } from "@sig/consumer";
import { createSubjectResolver } from "./resolve_subject.ts";
import { createSubjectKeys, type LoginKeyResolver } from "./subject_keys.ts";

/** Milliseconds for a subject's did.json in all: a person waits for it. */
export const SUBJECT_TIMEOUT_MS = 5_000;

/**
 * Makes what finds the key of a login over the network.
 *
 * @param totalTimeoutMs For one document, in place of the policy's own.
 * @throws {SigError} from what it returns: as `createSubjectResolver`.
 */
export function createFetchedSubjectKeys(
  policy: FetchPolicy,
  totalTimeoutMs: number = SUBJECT_TIMEOUT_MS,
): LoginKeyResolver {
  return createSubjectKeys({
    resolveSubjectKey: createSubjectResolver({
      fetchDocument: (url, { maxBytes }) =>
        fetchDocument(url, { ...policy, maxBytes, totalTimeoutMs }),
      allowPrivate: policy.allowPrivate ?? false,
    }),
  });
}
