/** Types of a consumer: its options, questions and answers. @module */

import type {
  AskedQuestion,
  CheckAnswer,
  FeedState,
  ParsedQuestion,
  RelationshipState,
} from "@sig/core";
import type { AnyAnswer } from "./ask/combine_answers.ts";
import type { FetchPolicy } from "./fetch/fetch_options.ts";
import type { ObservedIssuer, ObserveOptions } from "./follow/bounds.ts";
import type { ProofPolicy } from "./proofs/proof_policy.ts";
import type { WatchedEvent, WatchOptions } from "./follow/watch.ts";
import type { WaitingLimits } from "./follow/shared_refresh.ts";
import type { PinStore } from "./memory/open_pin_store.ts";
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
   * The allowed issuers: did:web, host or https URL of `sig.json`, which may be
   * anywhere on the issuer's host.
   */
  readonly issuers: readonly string[];
  /**
   * Whether issuers outside of the list are allowed too (default: false): by
   * did:web, host, or the URL `https://<host>/.well-known/sig.json`. They are
   * not pinned (`continuity: "unpinned"`). The states of the 256 most recently
   * used are cached, up to 48 MiB of feeds. At most 2 of their feeds of more
   * than 64 KiB are read concurrently; up to 256 more wait for at most 30 s
   * (else `overloaded`).
   */
  readonly anyIssuer?: boolean | undefined;
  /** Maximum age of a state in milliseconds (default: 60,000). */
  readonly maxAgeMs?: number | undefined;
  /**
   * Whether a question that finds a state older than three quarters of the
   * maximum age in effect for it starts a refresh in the background (default:
   * true). The question is answered from that state.
   */
  readonly refreshAhead?: boolean | undefined;
  /**
   * How much older than the maximum age a state may be while the issuer can't
   * be reached (`fetch_failed`, `fetch_status`, `fetch_timeout`,
   * `key_unresolvable`), in milliseconds (default: 0). Such an answer has
   * `freshness.status` `stale`. A fault, a contradiction and a checkpoint policy
   * hold at once, and still when the issuer can't be reached afterwards. Does
   * not apply to questions with `maxAgeMs: 0`, unless they have a `graceMs`.
   */
  readonly graceMs?: number | undefined;
  /** The clock (default: `() => new Date()`). */
  readonly now?: (() => Date) | undefined;
  /**
   * Awaited at intervals while a feed is verified (see `verifyFeed`), and while
   * a question about very many relationships is answered.
   */
  readonly yieldToEventLoop?: (() => Promise<void>) | undefined;
  /**
   * A store that keeps the memory of the listed issuers after this process
   * ends, and shares it with other processes (`@sig/consumer/pins`). The
   * consumer does not close it.
   */
  readonly pins?: PinStore | undefined;
  /**
   * When questions about one subject are answered from an issuer's proofs:
   * until its feed is loaded (default), always, or never.
   */
  readonly proofs?: "until_loaded" | "always" | "never" | undefined;
  /**
   * Requirements for an issuer's checkpoint (age, cosigners). If set, an issuer
   * without a valid checkpoint is an error.
   */
  readonly checkpointPolicy?: ProofPolicy | undefined;
  /**
   * A folder for copies of what issuers publish, which other processes of this
   * user share (default: none). A new process then fetches only what is new. A
   * copy is verified like fetched bytes, so deleting it costs only time.
   */
  readonly mirrorFolder?: string | undefined;
  /**
   * For a command that ends after one answer: only the relationships of the
   * subject asked about are kept, and nothing is refreshed ahead (default:
   * false).
   */
  readonly oneAnswer?: boolean | undefined;
  /** With `pins`: verify the whole feed at each refresh (default: false). */
  readonly full?: boolean | undefined;
  /** With `pins`: an issuer without a pin is an error (default: false). */
  readonly requirePin?: boolean | undefined;
  /**
   * Called with each newly verified event, in order; from the first one again
   * if the feed must be read again.
   */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /**
   * Called at intervals with the number of bytes of a feed that were read, and
   * the total if the server states it.
   */
  readonly onProgress?:
    | ((bytes: number, totalBytes: number | undefined) => void)
    | undefined;
  /**
   * The workers that verify signatures of large feeds, shared by all issuers
   * (default: one for each core but one, up to 6). They run only while a large
   * feed is read.
   */
  readonly workers?: SignatureWorkers | undefined;
}

/** A question to a consumer, with bounds of its own. */
export type ConsumerQuestion =
  & (AskedQuestion | ParsedQuestion)
  & Pick<ObserveOptions, "maxAgeMs" | "minSequence" | "graceMs" | "signal">;

/** Options of {@linkcode Consumer.check} and {@linkcode Consumer.ask}. */
export type AskOptions = Pick<ObserveOptions, "waitFor" | "refresh">;

/** An answer with the relationship that it is based on. */
export interface AskedAnswer {
  /** The answer. */
  readonly answer: CheckAnswer;
  /** The relationship that allows; null for a deny. */
  readonly relationship: RelationshipState | null;
}

/** A consumer of issuers for a long-running process. */
export interface Consumer {
  /**
   * Fetches and verifies the issuer now, regardless of the age of the known
   * state.
   */
  verify(issuer: string | IssuerName): Promise<VerifiedIssuer>;
  /**
   * Fetches and verifies the issuer now and reports (the body of `/v1/verify`).
   * Faults in its documents, and contradictions to the pin, are reported as
   * `valid: false`. Throws if a document can't be read.
   */
  report(
    issuer: string | IssuerName,
    options?: Pick<ObserveOptions, "waitFor">,
  ): Promise<VerifyReport>;
  /** Returns the verified issuer, within the requested age. */
  observe(
    issuer: string | IssuerName,
    options?: ObserveOptions,
  ): Promise<ObservedIssuer>;
  /** Returns the issuer's state, within the requested age. */
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
  /**
   * Answers like `check`, and adds the relationship that the answer is based
   * on.
   */
  ask(
    issuer: string | IssuerName,
    question: ConsumerQuestion,
    options?: AskOptions,
  ): Promise<AskedAnswer>;
  /**
   * Asks up to 100 issuers concurrently: allow if one of them allows. See
   * {@linkcode combineAnswers} for issuers that can't answer.
   */
  checkAny(
    issuers: readonly (string | IssuerName)[],
    question: ConsumerQuestion,
  ): Promise<AnyAnswer>;
  /**
   * Follows a listed issuer: yields each newly verified event once, in order
   * (see {@linkcode watchIssuer}). With `pins` the cursor survives restarts.
   */
  watch(
    issuer: string | IssuerName,
    options?: WatchOptions,
  ): AsyncIterable<WatchedEvent>;
}
