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
export { isPublicAddress, isRefusedHostName } from "./address.ts";
export {
  type AnswerBasis,
  answerFrom,
  answerInSlices,
  type IssuerQuestion,
  type SliceOptions,
} from "./answer_from.ts";
export {
  checkIssuer,
  type CheckIssuerOptions,
  DEFAULT_MAX_AGE_SECONDS,
} from "./check_issuer.ts";
export {
  type Consumer,
  type ConsumerOptions,
  type ConsumerQuestion,
  createConsumer,
} from "./create_consumer.ts";
export { isFault } from "./fault.ts";
export {
  type ContentRange,
  type FetchConditions,
  type FetchPolicy,
  fetchPolicyOf,
} from "./fetch_options.ts";
export { fetchDocument, type FetchDocumentOptions } from "./fetch_document.ts";
export { type FetchedFeed, fetchFeed } from "./fetch_feed.ts";
export type { InlineFeed } from "./inline_reader.ts";
export {
  type LoadedIssuer,
  loadIssuer,
  type LoadIssuerOptions,
} from "./load_issuer.ts";
export type { IssuerLocation } from "./reader.ts";
export { locateIssuer, type ProvenLocation } from "./locate_issuer.ts";
export type { ObservedIssuer, ObserveOptions } from "./observe_issuer.ts";
export { openInlineFeed, openSource } from "./open_source.ts";
export {
  type DocumentReader,
  type OpenedDocument,
  type OpenOptions,
} from "./reader.ts";
export type { DocumentName } from "./media_type.ts";
export { Places, type PlacesOptions } from "./places.ts";
export type { WaitingLimits } from "./refresh_queue.ts";
export { reportIssuer } from "./report_issuer.ts";
export { parseSource, type ParseSourceOptions, type Source } from "./source.ts";
export type {
  FeedPolicy,
  KeyUse,
  VerifiedEvent,
  VerifiedFeed,
  VerifyFeedOptions,
} from "./verified_feed.ts";
export { verifyFeed } from "./verify_feed.ts";
export {
  type VerifiedIssuer,
  verifyIssuer,
  type VerifyIssuerOptions,
} from "./verify_issuer.ts";
export type {
  InvalidReport,
  ReportedFault,
  ValidReport,
  VerifyReport,
} from "./verify_report.ts";
