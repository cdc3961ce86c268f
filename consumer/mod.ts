/**
 * Reading an issuer: its documents are fetched with guards, every signature is
 * verified, the feed is replayed, and questions are answered from it.
 *
 * @example Ask an issuer's directory on this machine
 * ```ts ignore
 * import { checkIssuer, openSource, parseSource } from "@sig/consumer";
 *
 * const answer = await checkIssuer(openSource(parseSource("./acme.example")), {
 *   subject: "did:web:alice.example",
 *   require: ["relationship=employee", "role=deploy"],
 * }, { now: new Date() });
 * console.log(answer.decision);
 * ```
 *
 * @module
 */
export { isPublicAddress, isRefusedHostName } from "./fetch/public_address.ts";
export {
  type AnswerBasis,
  answerFrom,
  answerInSlices,
  answersInSlices,
  type IssuerQuestion,
  type SliceOptions,
} from "./ask/answer_from.ts";
export {
  checkIssuer,
  type CheckIssuerOptions,
  DEFAULT_MAX_AGE_SECONDS,
} from "./ask/check_issuer.ts";
export {
  type AnyAnswer,
  type AskedIssuer,
  combineAnswers,
  type FailedAnswer,
} from "./ask/combine_answers.ts";
export type {
  AskedAnswer,
  AskOptions,
  Consumer,
  ConsumerOptions,
  ConsumerQuestion,
} from "./consumer.ts";
export { createConsumer } from "./create_consumer.ts";
export { type Probed, type ProbeOptions, probeUrl } from "./fetch/probe_url.ts";
export type { RequestMethod } from "./fetch/transport.ts";
export { isFault } from "./verify/feed_fault.ts";
export {
  type ContentRange,
  type FetchConditions,
  type FetchPolicy,
  fetchPolicyOf,
} from "./fetch/fetch_options.ts";
export { fetchDocument, type FetchDocumentOptions } from "./read/reader.ts";
export {
  fetchSubjectKey,
  type FetchSubjectKeyOptions,
  subjectDocumentUrl,
} from "./read/subject_key.ts";
export { type FetchedFeed, fetchFeed } from "./verify/verify_feed.ts";
export type { InlineFeed } from "./read/reader.ts";
export {
  type LoadedIssuer,
  loadIssuer,
  type LoadIssuerOptions,
  type ReloadIssuerOptions,
} from "./verify/load_issuer.ts";
export type { IssuerLocation } from "./read/reader.ts";
export {
  IssuerName,
  locateIssuer,
  type ProvenLocation,
} from "./read/source.ts";
export type {
  ObservedIssuer,
  ObserveOptions,
  WaitFor,
} from "./follow/freshness.ts";
export {
  type WatchedEvent,
  watchIssuer,
  type WatchIssuerOptions,
  type WatchOptions,
} from "./follow/watch.ts";
export type { StatePart } from "./memory/issuer_record.ts";
export { openInlineFeed, openSource } from "./read/source.ts";
export {
  type DocumentReader,
  type OpenedDocument,
  type OpenOptions,
} from "./read/reader.ts";
export type { DocumentName } from "./fetch/media_type.ts";
export { Semaphore, type SemaphoreOptions } from "./verify/semaphore.ts";
export type { WaitingLimits } from "./follow/shared_refresh.ts";
export { reportIssuer } from "./verify/verify_report.ts";
export {
  parseSource,
  type ParseSourceOptions,
  type Source,
} from "./read/source.ts";
export type {
  FeedPolicy,
  KeyUse,
  VerifiedEvent,
  VerifiedFeed,
  VerifyFeedOptions,
} from "./verify/verified_feed.ts";
export {
  type SignatureBatch,
  SignatureWorkers,
  type SignatureWorkersOptions,
} from "./verify/signature_workers.ts";
export { verifyFeed } from "./verify/verify_feed.ts";
export {
  type VerifiedIssuer,
  verifyIssuer,
  type VerifyIssuerOptions,
  type VerifyProgress,
} from "./verify/verify_feed.ts";
export type {
  InvalidReport,
  ReportedFault,
  ValidReport,
  VerifyReport,
} from "./verify/verify_report.ts";
