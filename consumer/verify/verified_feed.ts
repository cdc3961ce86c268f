/** What verifying a feed takes, and what comes of it. @module */

import type {
  FeedState,
  Limits,
  SigError,
  SigEvent,
  UnknownEvent,
  Warning,
} from "@sig/core";
import type { KeyResolver } from "@sig/jose/keys";
import type { SignatureWorkers } from "./signature_workers.ts";

/** What a reader decides about feeds that others wrote. */
export interface FeedPolicy {
  /** Events of a type that v0.1 does not know (default: `reject`). */
  readonly unknownEvents?: "ignore" | "reject" | undefined;
  /** A revoke without an earlier upsert (default: `ignore`). */
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
  /** The metadata says that the feed holds public events only. */
  readonly publicOnly: boolean;
  /** The clock, for the warning `issued_at_future`. */
  readonly now: Date;
  /**
   * Faults to collect before giving up. The first one is thrown unless this is
   * set; `maxFaults: 100` answers with all of them in `faults` instead.
   */
  readonly maxFaults?: number | undefined;
  /** Digest the bytes too (default: false). */
  readonly digest?: boolean | undefined;
  /**
   * The one subject that the state will be asked about, null for none; see
   * core's `Replay`. A large feed then takes a fraction of the memory.
   */
  readonly keepOnly?: string | null | undefined;
  /** Told of each verified event, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /**
   * Awaited after every 128 lines or 256 KiB of them, so that a process that serves others stays
   * responsive: `() => new Promise((resolve) => setTimeout(resolve))`.
   * Signatures are verified synchronously where the platform can do so.
   */
  readonly yieldToEventLoop?: (() => Promise<void>) | undefined;
  /**
   * What verifies signatures beside this thread once a feed is large; its
   * own workers by default. Share them where several feeds are read at a time;
   * with `new SignatureWorkers({ maxWorkers: 0 })` this thread does it alone.
   */
  readonly workers?: SignatureWorkers | undefined;
  /**
   * About how many bytes will come, if known: workers for a large feed then
   * start at once. Nothing else depends on it.
   */
  readonly expectedBytes?: number | undefined;
}

/** An event whose signature and rules were verified. */
export interface VerifiedEvent {
  /** The event. */
  readonly event: SigEvent | UnknownEvent;
  /** The key that signed it. */
  readonly kid: string;
  /** Its line, from 1. */
  readonly line: number;
}

/** Which events a key signed. */
export interface KeyUse {
  /** The `kid` of its header, a key of the key set. */
  readonly kid: string;
  /** How many events. */
  readonly events: number;
  /** The first of them. */
  readonly first_sequence: number;
  /** The last of them. */
  readonly last_sequence: number;
}

/** What came of verifying a feed. */
export interface VerifiedFeed {
  /** The state after the last event; of no use when there are faults. */
  readonly state: FeedState;
  /** Events verified. */
  readonly verifiedEvents: number;
  /** Bytes read. */
  readonly bytes: number;
  /** SHA-256 of all bytes, hexadecimal; only with `digest`. */
  readonly sha256?: string;
  /** The keys that signed, in the order of their first event. */
  readonly keys: readonly KeyUse[];
  /** What was odd; the first 1,000. */
  readonly warnings: readonly Warning[];
  /** What was wrong; empty unless `maxFaults` is set. */
  readonly faults: readonly SigError[];
}
