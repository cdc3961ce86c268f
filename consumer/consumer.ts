/** The settings and questions of a consumer. @module */

import type {
  AskedQuestion,
  CheckAnswer,
  FeedState,
  Limits,
  ParsedQuestion,
  RelationshipState,
} from "@sig/core";
import type { AnyAnswer } from "./ask/combine_answers.ts";
import type { FetchPolicy } from "./fetch/fetch_options.ts";
import type { ObservedIssuer, ObserveOptions } from "./follow/freshness.ts";
import type { ProofPolicy } from "./proofs/proof_policy.ts";
import type { WatchedEvent, WatchOptions } from "./follow/watch.ts";
import type { WaitingLimits } from "./follow/shared_refresh.ts";
import type { PinStore } from "./memory/sqlite_lines.ts";
import type { IssuerName } from "./read/source.ts";
import type { LoadIssuerOptions } from "./verify/load_issuer.ts";
import type { SignatureWorkers } from "./verify/signature_workers.ts";
import type { VerifiedIssuer } from "./verify/verify_feed.ts";
import type { FeedPolicy, VerifiedEvent } from "./verify/verified_feed.ts";
import type { VerifyReport } from "./verify/verify_report.ts";

/** Options of {@linkcode createConsumer}. */
export interface ConsumerOptions
  extends FeedPolicy, LoadIssuerOptions, FetchPolicy, Partial<WaitingLimits> {
  /**
   * The issuers that may be asked: did:web, host or https URL of `sig.json`,
   * which may be anywhere on the issuer's host.
   */
  readonly issuers: readonly string[];
  /**
   * Ask issuers outside of the list too: by did:web, host, or the URL
   * `https://<host>/.well-known/sig.json` and no other. They are not pinned
   * (`continuity: "unpinned"`). Their states are cached for the 256 that were
   * asked last, up to 48 MiB of feeds. At most 2 of their feeds of more than
   * 64 KiB are read at a time, while 256 more wait for up to 30 s
   * (`overloaded`).
   */
  readonly anyIssuer?: boolean | undefined;
  /** How old a state may be, in milliseconds (default: 60,000). */
  readonly maxAgeMs?: number | undefined;
  /** The clock (default: `() => new Date()`). */
  readonly now?: (() => Date) | undefined;
  /**
   * Awaited now and then while a feed is verified (see `verifyFeed`), and while
   * a question about very many relationships is answered.
   */
  readonly yieldToEventLoop?: (() => Promise<void>) | undefined;
  /**
   * Remembers the issuers of the list for longer than this process, and shares
   * what is known with other processes (`@sig/consumer/pins`); it stays open. A
   * file keeps the verified lines too, of which each question reads its part.
   */
  readonly pins?: PinStore | undefined;
  /**
   * With `pins` that keep lines: how large the feed of an issuer may become.
   * `limits` are then of what is new in it, and of a feed that must be verified
   * from its start.
   */
  readonly rememberedLimits?: Limits | undefined;
  /**
   * When questions about one subject are answered from an issuer's proofs: while
   * its feed is not loaded (the default), always, or never.
   */
  readonly proofs?: "until_loaded" | "always" | "never" | undefined;
  /**
   * What an issuer's checkpoint must have (its age, cosigners); then nothing is
   * answered without one.
   */
  readonly checkpointPolicy?: ProofPolicy | undefined;
  /** With `pins`: verify everything again, whenever an issuer is asked. */
  readonly full?: boolean | undefined;
  /** With `pins`: an issuer that is not remembered there is an error. */
  readonly requirePin?: boolean | undefined;
  /** Called with each newly verified event, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /**
   * Called now and then with the bytes of a feed that were read, and their
   * number as far as the server says it.
   */
  readonly onProgress?:
    | ((bytes: number, totalBytes: number | undefined) => void)
    | undefined;
  /**
   * What verifies signatures of large feeds beside this thread, for all issuers
   * together; (default: one for each core but one, up to 6). They run while a
   * large feed is read.
   */
  readonly workers?: SignatureWorkers | undefined;
}

/** A question to a consumer. */
export type ConsumerQuestion = (AskedQuestion | ParsedQuestion) & {
  /** As {@linkcode ObserveOptions.maxAgeMs}. */
  readonly maxAgeMs?: number | undefined;
  /** As {@linkcode ObserveOptions.minSequence}. */
  readonly minSequence?: number | undefined;
};

/** How a question is asked. */
export type AskOptions = Pick<ObserveOptions, "waitFor" | "refresh">;

/** An answer with what it rests upon. */
export interface AskedAnswer {
  /** The answer. */
  readonly answer: CheckAnswer;
  /** The relationship that it rests upon; null for a deny. */
  readonly relationship: RelationshipState | null;
}

/** A consumer of issuers, for a long-running process. */
export interface Consumer {
  /** Asks the issuer now, whatever the age of what is known. */
  verify(issuer: string | IssuerName): Promise<VerifiedIssuer>;
  /**
   * Asks the issuer now and reports (the body of `/v1/verify`). Faults of what
   * it publishes, and contradictions to what is remembered, are `valid: false`;
   * what could not be read is thrown.
   */
  report(
    issuer: string | IssuerName,
    options?: Pick<ObserveOptions, "waitFor">,
  ): Promise<VerifyReport>;
  /** The issuer, no older than asked for. */
  observe(
    issuer: string | IssuerName,
    options?: ObserveOptions,
  ): Promise<ObservedIssuer>;
  /** The issuer's state, no older than asked for. */
  state(
    issuer: string | IssuerName,
    options?: ObserveOptions,
  ): Promise<FeedState>;
  /** Answers a question from a state within the requested age. */
  check(
    issuer: string | IssuerName,
    question: ConsumerQuestion,
    options?: AskOptions,
  ): Promise<CheckAnswer>;
  /** The same with the relationship that the answer rests upon. */
  ask(
    issuer: string | IssuerName,
    question: ConsumerQuestion,
    options?: AskOptions,
  ): Promise<AskedAnswer>;
  /**
   * Asks several issuers, up to 100, at the same time: allow if one of them
   * allows. See {@linkcode combineAnswers} for those that can't answer.
   */
  checkAny(
    issuers: readonly (string | IssuerName)[],
    question: ConsumerQuestion,
  ): Promise<AnyAnswer>;
  /**
   * Follows an issuer of the list: each newly verified event once, in order, as
   * {@linkcode watchIssuer}. With `pins` the cursor outlives the process.
   */
  watch(
    issuer: string | IssuerName,
    options?: WatchOptions,
  ): AsyncIterable<WatchedEvent>;
}
