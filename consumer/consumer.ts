/** What a consumer is told, and what it can be asked. @module */

import type { AskedQuestion, CheckAnswer, FeedState, Limits } from "@sig/core";
import type { AnyAnswer } from "./ask/combine_answers.ts";
import type { FetchPolicy } from "./fetch/fetch_options.ts";
import type {
  ObservedIssuer,
  ObserveOptions,
} from "./follow/observe_issuer.ts";
import type { WatchedEvent, WatchOptions } from "./follow/watch_issuer.ts";
import type { WaitingLimits } from "./follow/refresh_queue.ts";
import type { PinStore } from "./pins/pin_store.ts";
import type { IssuerName } from "./read/source.ts";
import type { LoadIssuerOptions } from "./verify/load_issuer.ts";
import type { SignatureWorkers } from "./verify/signature_workers.ts";
import type { FeedPolicy, VerifiedEvent } from "./verify/verified_feed.ts";
import type { VerifiedIssuer } from "./verify/verify_feed.ts";
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
   * `https://<host>/.well-known/sig.json` and no other. Their states are kept
   * for the 256 (and for 96 MiB of feeds) that were asked last, and pins,
   * reduced to about 1 KiB, for 10,000 more. At most 2 feeds of more than 64 KiB, each within
   * `limits`, are read at a time, while 256 more wait for up to 30 s
   * (`overloaded`). Those of the list are always kept and never wait.
   */
  readonly anyIssuer?: boolean | undefined;
  /** How old a state may be, in milliseconds; 60,000 unless told. */
  readonly maxAge?: number | undefined;
  /** The clock; `() => new Date()` unless told. */
  readonly now?: (() => Date) | undefined;
  /**
   * Awaited now and then while a feed is verified (see `verifyFeed`), and while
   * a question about very many relationships is answered.
   */
  readonly breathe?: (() => Promise<void>) | undefined;
  /**
   * Remembers the issuers of the list for longer than this process, and with
   * others (`@sig/consumer/pins`); it stays open. Their states are then read
   * from there, as far as a question needs. Issuers outside of the list never
   * take room there.
   */
  readonly pins?: PinStore | undefined;
  /**
   * With `pins`: how large the feed of an issuer may become that they hold. Then
   * `limits` are of what is new in it, which alone is read into memory, and of
   * one that must be read anew.
   */
  readonly rememberedLimits?: Limits | undefined;
  /** With `pins`: verify everything again, whenever an issuer is asked. */
  readonly full?: boolean | undefined;
  /** With `pins`: an issuer that is not remembered there is an error. */
  readonly requirePin?: boolean | undefined;
  /** Told of each event that is verified anew, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /**
   * Told now and then how many bytes of a feed were read, and of how many, as
   * far as the server tells that.
   */
  readonly onProgress?:
    | ((bytes: number, totalBytes: number | undefined) => void)
    | undefined;
  /**
   * What verifies signatures of large feeds beside this thread, for all issuers
   * together; one for each core but one, up to 6, unless told. They run while a
   * large feed is read.
   */
  readonly workers?: SignatureWorkers | undefined;
}

/** A question to a consumer. */
export interface ConsumerQuestion extends AskedQuestion {
  /** As {@linkcode ObserveOptions.maxAgeMs}, in seconds. */
  readonly maxAgeSeconds?: number | undefined;
  /** As {@linkcode ObserveOptions.minSequence}. */
  readonly minSequence?: number | undefined;
}

/** A consumer of issuers, for a process that stays. */
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
  /** Answers a question from a state that is no older than asked for. */
  check(
    issuer: string | IssuerName,
    question: ConsumerQuestion,
  ): Promise<CheckAnswer>;
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
