/**
 * Exports for the other packages of this project. Not covered by semantic
 * versioning: they may change in any release.
 *
 * @module
 */
export { answerInSlices, type SliceOptions } from "./ask/answer_from.ts";
export { type AskedIssuer, combineAnswers } from "./ask/combine_answers.ts";
export { fetchPolicyOf } from "./fetch/fetch_options.ts";
export { type ProbeOptions, probeUrl } from "./fetch/guarded_fetch.ts";
export type { ResponseHead } from "./fetch/transport.ts";
export { requestCosignature } from "./evidence/evidence.ts";
export type { RequestCosignatureOptions, Witness } from "./evidence/witness.ts";
export {
  loadIssuer,
  maySign,
  type ReloadIssuerOptions,
  signingKeys,
} from "./verify/load_issuer.ts";
export {
  type InsideFile,
  type NotInside,
  openInside,
} from "./read/open_inside.ts";
export { MAX_EVIDENCE_BYTES, originOf } from "./proofs/proof_policy.ts";
export { documentFromBytes, readAll } from "./read/reader.ts";
export {
  IssuerName,
  locateIssuer,
  type ProvenLocation,
} from "./read/source.ts";
export { subjectDocumentUrl } from "./read/subject_key.ts";
export { isFault } from "./verify/feed_fault.ts";
export { Semaphore, type SemaphoreOptions } from "./verify/semaphore.ts";
