/** What a running consumer knows of one issuer. @module */

import { type Continuity, isSigError, type Warning } from "@sig/core";
import type { KeptDocuments } from "../read/conditional_reader.ts";
import type { FeedDigest } from "../verify/feed_digest.ts";
import type { FeedVerification } from "../verify/feed_verification.ts";
import { type IssuerMemory, nameKeys } from "./issuer_memory.ts";
import type { SignatureMarks } from "../verify/signature_marks.ts";
import type { VerifiedIssuer } from "../verify/verify_issuer.ts";

/** A feed that was verified here, from its first byte to its last. */
export interface KnownHistory {
  /** Goes on where the feed ends. */
  readonly verification: FeedVerification;
  /** Goes on as well; undefined where that would mean to keep the feed. */
  readonly digest: FeedDigest | undefined;
  /** A few bytes of every signature. */
  readonly marks: SignatureMarks;
  /** The feed's last bytes: a tail must begin with them. */
  readonly overlap: Uint8Array;
  /** Where it was got from. */
  readonly ref: string;
  /** The rule that its events were judged by. */
  readonly publicOnly: boolean;
  /** What was odd about how it is served. */
  readonly warnings: readonly Warning[];
  /** When it was last compared from its first byte on. */
  readonly comparedAt: Date;
}

/** An issuer as it was at one time. */
export interface Observation {
  /** Everything that was verified. */
  readonly verified: VerifiedIssuer;
  /** When fetching it began. */
  readonly observedAt: Date;
  /** The same as text, made once for many answers. */
  readonly observedAtText: string;
  /** How it relates to what this process had seen before. */
  readonly continuity: Continuity;
}

/** What a refresh found, when all of it was in order. */
export interface Refreshed {
  /** To be answered from. */
  readonly observation: Observation;
  /** To compare later fetches with. */
  readonly memory: IssuerMemory;
  /** The same in a bounded size, for when the state goes. */
  readonly reduced: IssuerMemory;
  /** To go on from. */
  readonly history: KnownHistory;
  /** To ask conditionally with. */
  readonly documents: KeptDocuments;
}

/** What outlives an issuer's state when there are too many of them. */
export interface PastIssuer {
  /** The memory, reduced. */
  readonly memory: IssuerMemory;
  /** As {@linkcode IssuerRecord.inconsistency}. */
  readonly inconsistency: string | undefined;
  /** As {@linkcode IssuerRecord.keysRefetchedAt}. */
  readonly keysRefetchedAt: Date | undefined;
}

const NO_DOCUMENTS: KeptDocuments = new Map();

/** Codes of what contradicts a memory (PROTOCOL §6). */
const CONTRADICTIONS: ReadonlySet<string> = new Set([
  "feed_rolled_back",
  "key_replaced",
  "key_withdrawn",
  "feed_rewritten",
]);

/**
 * Grows by refreshes that were verified as a whole, and by nothing else: what
 * was fetched and is faulty, or contradicts the memory, only takes away the
 * right to answer from the older state.
 */
export class IssuerRecord {
  #memory: IssuerMemory | undefined;
  #reduced: IssuerMemory | undefined;
  #history: KnownHistory | undefined;
  #documents = NO_DOCUMENTS;
  #stateBytes = 0;
  #latest: Observation | undefined;
  #isSuspended = false;
  #inconsistency: string | undefined;
  /** When keys were last fetched twice in one refresh (SECURITY F5). */
  keysRefetchedAt: Date | undefined;

  constructor(past?: PastIssuer) {
    this.#memory = past?.memory;
    this.#reduced = past?.memory;
    this.#inconsistency = past?.inconsistency;
    this.keysRefetchedAt = past?.keysRefetchedAt;
  }

  /** What later fetches are compared with. */
  get memory(): IssuerMemory | undefined {
    return this.#memory;
  }

  /** What can be gone on from. */
  get history(): KnownHistory | undefined {
    return this.#history;
  }

  /**
   * Whether conditional requests may be sent. Not after a fault or a
   * contradiction: then everything is fetched, so that none can hide.
   */
  get mayAskConditionally(): boolean {
    return !this.#isSuspended;
  }

  /** The documents that conditional requests are about. */
  get documents(): KeptDocuments {
    return this.#isSuspended ? NO_DOCUMENTS : this.#documents;
  }

  /** The latest observation, unless something worse was seen since. */
  get answerable(): Observation | undefined {
    return this.#isSuspended ? undefined : this.#latest;
  }

  /** Code of the last contradiction in this process. */
  get inconsistency(): string | undefined {
    return this.#inconsistency;
  }

  /** Bytes of the feed whose state is held, and of the documents with it. */
  get stateBytes(): number {
    const hasState = this.#latest !== undefined || this.#history !== undefined;
    return hasState ? this.#stateBytes : 0;
  }

  /** What is left when the state goes. */
  get past(): PastIssuer | undefined {
    return this.#reduced && {
      memory: this.#reduced,
      inconsistency: this.#inconsistency,
      keysRefetchedAt: this.keysRefetchedAt,
    };
  }

  /** Where the reduced memory is all there is, its keys get their names. */
  async nameKeys(published: Iterable<string>): Promise<void> {
    const memory = this.#memory;
    if (memory === undefined || memory !== this.#reduced) return;
    this.#memory = await nameKeys(memory, published);
  }

  /** Takes what a refresh found. */
  accept(refreshed: Refreshed): void {
    const { observation, memory, reduced, history, documents } = refreshed;
    this.#memory = memory;
    this.#reduced = reduced;
    this.#history = history;
    this.#documents = documents;
    this.#stateBytes = memory.bytes;
    for (const { bytes } of documents.values()) {
      this.#stateBytes += bytes.length;
    }
    this.#latest = observation;
    this.#isSuspended = false;
  }

  /**
   * Takes notice that a refresh failed. An issuer that can't be reached leaves
   * the state as good as it was, unless it was seen to serve another feed
   * before the connection broke (`sawDifference`).
   */
  fail(error: unknown, sawDifference: boolean): void {
    const isUnavailable = isSigError(error) && error.category === "unavailable";
    if (!isUnavailable || sawDifference) this.#isSuspended = true;
    if (isSigError(error) && CONTRADICTIONS.has(error.code)) {
      this.#inconsistency = error.code;
    }
    // It may have gone on before the failure: then nothing can go on from it.
    const { isIntact, events } = this.#history?.verification ?? {};
    if (!isIntact || events !== this.#memory?.sequence) {
      this.#history = undefined;
    }
  }
}
