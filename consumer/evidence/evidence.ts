/**
 * Evidence files: a question, its answer, and the proof (docs/protocol.md
 * §13.5); cosignatures of witnesses. Few programs use either, so that their
 * code is loaded with the first call.
 *
 * @module
 */

import type { IssuerLocation } from "../read/reader.ts";
import {
  loadIssuer,
  type LoadIssuerOptions,
  signingKeys,
} from "../verify/load_issuer.ts";
import type {
  Evidence,
  TrustedDocuments,
  TrustedKeys,
  VerifiedEvidence,
} from "./evidence_file.ts";
import type { RequestCosignatureOptions, Witness } from "./witness.ts";

export type { Evidence, TrustedDocuments, TrustedKeys, VerifiedEvidence };

/**
 * Creates evidence for an answer about a subject, from an issuer's checkpoint.
 *
 * @param question `at` is an instant; events after the checkpoint don't count.
 * @throws {SigError} `proof_invalid` and `invalid_checkpoint`, also for an
 * issuer without proofs; `document_too_large` for a subject of over 1 MiB of
 * lines; as `checkIssuer`.
 */
export async function makeEvidence(
  location: IssuerLocation,
  question: Evidence["question"],
  options: LoadIssuerOptions & { readonly now: Date },
): Promise<Evidence> {
  const { make } = await import("./evidence_maker.ts");
  return await make(location, question, options);
}

/**
 * Verifies an evidence file, offline: a trusted key has signed the checkpoint,
 * the path leads to its state, the lines are valid, and they result in the
 * answer. Evidence proves what was signed then, not that nothing was signed
 * later.
 *
 * @param trust Keys of the issuer, one of which must have signed the
 * checkpoint, or a function that returns them for the issuer's DID, with its
 * statements if they are known.
 * @throws {SigError} `invalid_evidence`, and what `trust` throws.
 */
export async function verifyEvidence(
  bytes: Uint8Array,
  trust:
    | TrustedKeys
    | ((issuer: string) => Promise<TrustedKeys | TrustedDocuments>),
): Promise<VerifiedEvidence> {
  const { read, verify } = await import("./evidence_file.ts");
  const evidence = await read(bytes);
  const trusted = typeof trust === "function"
    ? await trust(evidence.issuer)
    : trust;
  const of = Symbol.iterator in trusted ? { keys: trusted } : trusted;
  return await verify(evidence, of);
}

/** Fetches the keys that may sign an issuer's events, and its statements. */
export async function fetchTrustedKeys(
  location: IssuerLocation,
  options: LoadIssuerOptions = {},
): Promise<TrustedDocuments> {
  const { keys, recovery } = await loadIssuer(location, options);
  return { keys: [...signingKeys(keys).values()], recovery };
}

/**
 * Requests a witness's cosignature of an issuer's checkpoint, and proves to it
 * that the checkpoint continues the last cosigned one. A witness vouches only
 * for the number of events and their tree hash.
 *
 * @returns The signature line, for `sig checkpoint --add`.
 * @throws {SigError} `feed_rolled_back` and `feed_rewritten` if the witness has
 * cosigned more or different events; `fetch_status` if it refuses;
 * `invalid_checkpoint` for a response without a signature by its key;
 * `proof_invalid`, and the errors of fetching.
 */
export async function requestCosignature(
  location: IssuerLocation,
  witness: Witness,
  options: RequestCosignatureOptions,
): Promise<string> {
  const { request } = await import("./witness.ts");
  return await request(location, witness, options);
}
