/** Options and results of verifying a feed. @module */

import type {
  FeedState,
  Limits,
  SigError,
  SigEvent,
  UnknownEvent,
  Warning,
} from "@sig/core";
import type { KeyResolver } from "@sig/jose/keys";
import type { Recovery } from "@sig/jose/recovery";
import type { SignatureWorkers } from "./signature_workers.ts";

/** How strictly feeds are verified. */
export interface FeedPolicy {
  /**
   * Whether events of an unknown type are ignored or rejected (default:
   * `reject`).
   */
  readonly unknownEvents?: "ignore" | "reject" | undefined;
  /**
   * Whether a revoke without an earlier upsert is ignored or rejected (default:
   * `ignore`).
   */
  readonly unmatchedRevoke?: "ignore" | "reject" | undefined;
  /** Size limits (default: core's). */
  readonly limits?: Limits | undefined;
}

/** Options of {@linkcode verifyFeed}. */
export interface VerifyFeedOptions extends FeedPolicy {
  /** The issuer that every event must name. */
  readonly issuer: string;
  /** The keys that may sign. */
  readonly keys: KeyResolver;
  /** The issuer's statements, whose roots the feed must have (default: none). */
  readonly recovery?: Recovery | undefined;
  /** Whether the metadata says that the feed contains public events only. */
  readonly publicOnly: boolean;
  /** The current time, for the warning `issued_at_future`. */
  readonly now: Date;
  /**
   * Maximum number of faults to collect in `faults` before stopping, such as
   * 100 (default: the first fault is thrown).
   */
  readonly maxFaults?: number | undefined;
  /** Whether to compute `sha256` (default: false). */
  readonly digest?: boolean | undefined;
  /**
   * The only subject that the state will be queried for, or null for none
   * (default: all subjects); see core's `Replay`. A large feed then needs much
   * less memory.
   */
  readonly keepOnly?: string | null | undefined;
  /** Called with each verified event, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /**
   * Awaited after every 128 lines or 256 KiB, so that a server stays
   * responsive: `() => new Promise((resolve) => setTimeout(resolve))`. On some
   * platforms signatures are verified synchronously.
   */
  readonly yieldToEventLoop?: (() => Promise<void>) | undefined;
  /**
   * Workers that verify the signatures of a large feed in parallel (default:
   * separate workers for this feed). Share them if several feeds are read
   * concurrently. With `new SignatureWorkers({ maxWorkers: 0 })` this thread
   * verifies all signatures.
   */
  readonly workers?: SignatureWorkers | undefined;
  /**
   * Approximate size of the feed in bytes, if known. Only used to start workers
   * for a large feed immediately.
   */
  readonly expectedBytes?: number | undefined;
}

/** An event whose signature and rules were verified. */
export interface VerifiedEvent {
  /** The event. */
  readonly event: SigEvent | UnknownEvent;
  /** The `kid` of the key that signed it. */
  readonly kid: string;
  /** Line number in the feed, from 1. */
  readonly line: number;
  /**
   * Whether its key had ended: the event is valid but not applied
   * (docs/protocol.md §14.2).
   */
  readonly isVoid: boolean;
}

/** The events signed by a key. */
export interface KeyUse {
  /** The `kid` of the key in the key set. */
  readonly kid: string;
  /** Number of events. */
  readonly events: number;
  /** Sequence of the first event. */
  readonly first_sequence: number;
  /** Sequence of the last event. */
  readonly last_sequence: number;
}

/** The result of verifying a feed. */
export interface VerifiedFeed {
  /** The state after the last event. Do not use it if there are faults. */
  readonly state: FeedState;
  /** Number of verified events. */
  readonly verifiedEvents: number;
  /** Number of bytes read. */
  readonly bytes: number;
  /** SHA-256 of all bytes in hexadecimal; only with `digest`. */
  readonly sha256?: string;
  /** The keys that signed, in the order of their first events. */
  readonly keys: readonly KeyUse[];
  /** Warnings about the feed, up to 1,000. */
  readonly warnings: readonly Warning[];
  /** Faults of the feed; always empty without `maxFaults`. */
  readonly faults: readonly SigError[];
}
