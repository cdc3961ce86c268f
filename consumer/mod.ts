/**
 * Reads an issuer: fetches its documents with guards, verifies every signature,
 * replays the feed, and answers questions from it.
 *
 * @example Ask an issuer
 * ```ts ignore
 * import { checkIssuer } from "@sig/consumer";
 *
 * const answer = await checkIssuer("acme.example", {
 *   subject: "did:web:alice.example",
 *   require: ["relationship=employee", "role=deploy"],
 * });
 * console.log(answer.decision);
 * ```
 *
 * @module
 */
export {
  type AnswerBasis,
  answerFrom,
  type IssuerQuestion,
} from "./ask/answer_from.ts";
export { checkIssuer, type CheckIssuerOptions } from "./ask/check_issuer.ts";
export type { AnyAnswer, FailedAnswer } from "./ask/combine_answers.ts";
export type {
  AskedAnswer,
  AskOptions,
  Consumer,
  ConsumerOptions,
  ConsumerQuestion,
} from "./consumer.ts";
export { createConsumer } from "./create_consumer.ts";
export type {
  ContentRange,
  FetchConditions,
  FetchPolicy,
  OpenedDocument,
} from "./fetch/fetch_options.ts";
export type { DocumentName } from "./fetch/response_rules.ts";
export {
  type Evidence,
  fetchTrustedKeys,
  makeEvidence,
  type TrustedDocuments,
  type TrustedKeys,
  type VerifiedEvidence,
  verifyEvidence,
} from "./evidence/evidence.ts";
export type { ProofPolicy } from "./proofs/proof_policy.ts";
export type {
  ObservedIssuer,
  ObserveOptions,
  StateScope,
  WaitFor,
} from "./follow/bounds.ts";
export type { WaitingLimits } from "./follow/shared_refresh.ts";
export {
  type WatchedEvent,
  watchIssuer,
  type WatchIssuerOptions,
  type WatchOptions,
} from "./follow/watch.ts";
export type { LocalSource } from "./read/local_reader.ts";
export type {
  DocumentReader,
  InlineFeed,
  IssuerLocation,
  OpenOptions,
} from "./read/reader.ts";
export {
  type IssuerName,
  openInlineFeed,
  openSource,
  parseSource,
  type ParseSourceOptions,
  type Source,
} from "./read/source.ts";
export { fetchSubjectKey } from "./read/subject_key.ts";
export type { LoadedIssuer, LoadIssuerOptions } from "./verify/load_issuer.ts";
export {
  SignatureWorkers,
  type SignatureWorkersOptions,
  type SignedMessage,
} from "./verify/signature_workers.ts";
export {
  type FetchedFeed,
  fetchFeed,
  type ReadingOptions,
  type VerifiedIssuer,
  verifyFeed,
  verifyIssuer,
  type VerifyIssuerOptions,
  type VerifyProgress,
} from "./verify/verify_feed.ts";
export type {
  FeedPolicy,
  KeyUse,
  VerifiedEvent,
  VerifiedFeed,
  VerifyFeedOptions,
} from "./verify/verified_feed.ts";
export {
  type InvalidReport,
  type ReportedFault,
  reportIssuer,
  type ValidReport,
  type VerifyReport,
} from "./verify/verify_report.ts";
