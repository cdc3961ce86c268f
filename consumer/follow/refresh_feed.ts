/** The feed's part of a refresh: which bytes to get, and what they prove. @module */

import { isSigError, type SigError, type Warning } from "@sig/core";
import { isFault } from "../verify/fault.ts";
import type {
  FeedVerification,
  ReadFeedOptions,
} from "../verify/feed_verification.ts";
import type { FetchConditions } from "../fetch/fetch_options.ts";
import {
  type FollowedFeed,
  goOn,
  readFromStart,
  tailStart,
} from "./follow_feed.ts";
import { isWithin } from "./is_within.ts";
import type { IssuerMemory } from "./issuer_memory.ts";
import type { IssuerRecord, KnownHistory } from "./issuer_record.ts";
import {
  contradictedKids,
  judgeContinuity,
  judgeKeys,
} from "./judge_continuity.ts";
import type { LoadedIssuer } from "../verify/load_issuer.ts";
import type { OpenedDocument } from "../read/reader.ts";
import type { RefreshKeys } from "./refresh_keys.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import { MAX_REPORTED_FAULTS } from "../verify/verify_report.ts";

/** A feed is compared from its first byte at least this often. */
const COMPARE_AFTER_MS = 24 * 60 * 60 * 1000;

/** What keys explain: signatures by one that is another now, or gone. */
const EXPLAINED_BY_KEYS: ReadonlySet<string> = new Set([
  "signature_invalid",
  "key_not_found",
  "key_not_authorized",
]);

/** A feed that is in order and goes on from what is remembered. */
export interface RefreshedFeed extends FollowedFeed {
  /** Its entity tag. */
  readonly etag: string | null;
  /** As in {@linkcode KnownHistory}. */
  readonly comparedAt: Date;
}

/** Gets, verifies and judges the feed of an issuer whose documents are loaded. */
export class FeedRefresh {
  readonly #record: IssuerRecord;
  readonly #loaded: LoadedIssuer;
  readonly #keys: RefreshKeys;
  readonly #options: RefreshOptions;
  #verification: FeedVerification | undefined;
  #warnings: readonly Warning[] = [];
  #sawDifference = false;

  constructor(
    record: IssuerRecord,
    loaded: LoadedIssuer,
    keys: RefreshKeys,
    options: RefreshOptions,
  ) {
    this.#record = record;
    this.#loaded = loaded;
    this.#keys = keys;
    this.#options = options;
  }

  /** The keys that it is verified with. */
  get keys(): RefreshKeys {
    return this.#keys;
  }

  /** The feed was seen not to be the remembered one. */
  get sawDifference(): boolean {
    return this.#sawDifference;
  }

  /** What is odd about how the feed is served. */
  get warnings(): readonly Warning[] {
    return this.#warnings;
  }

  /** Events that verified, and faults; for a report. */
  get progress(): { verifiedEvents: number; faults: readonly SigError[] } {
    return this.#verification?.result() ?? { verifiedEvents: 0, faults: [] };
  }

  /** @throws {SigError} a fault, a contradiction, or why it can't be read. */
  async run(): Promise<RefreshedFeed> {
    const feed = await this.#refresh();
    await this.#keys.requireAgreement(
      feed.verification.kids,
      feed.verification.events,
    );
    return feed;
  }

  async #refresh(): Promise<RefreshedFeed> {
    const { memory, history } = this.#record;
    if (memory === undefined) return await this.#readFromStart();
    const keys = await this.#keys.remembered(memory);
    const contradiction = judgeKeys(memory, keys);
    if (contradiction !== undefined) {
      return await this.#judgeWithoutKeys(
        memory,
        contradiction,
        contradictedKids(memory, keys),
      );
    }
    // Another rule for events means that all of them are judged again.
    const { public_only: publicOnly } = this.#loaded.metadata;
    const feed = history?.publicOnly === publicOnly
      ? await this.#goOn(memory, history)
      : undefined;
    return feed ?? await this.#readFromStart(memory);
  }

  /** Undefined when what is served is not what is known. */
  async #goOn(
    memory: IssuerMemory,
    history: KnownHistory,
  ): Promise<RefreshedFeed | undefined> {
    const opened = await this.#openToGoOn(memory, history);
    if (opened === undefined) return undefined;
    const known = opened.range === undefined
      ? memory.bytes
      : history.overlap.length;
    const document = this.#bounded(opened, known);
    try {
      if (document.unchanged) {
        this.#warnings = history.warnings;
        const { etag, prefix_sha256: sha256 } = memory;
        return { ...history, etag, sha256 };
      }
      this.#verification = history.verification;
      const feed = await goOn(history, memory, document, this.#reading());
      this.#throwFaults();
      if (feed !== undefined) {
        return {
          ...feed,
          etag: document.etag,
          comparedAt: document.range === undefined
            ? this.#options.now
            : history.comparedAt,
        };
      }
    } finally {
      await document.cancel();
    }
    this.#sawDifference = true;
    return undefined;
  }

  /** The tail where that may be, else the whole feed. */
  async #openToGoOn(
    memory: IssuerMemory,
    history: KnownHistory,
  ): Promise<OpenedDocument | undefined> {
    const mayAsk = this.#record.mayAskConditionally &&
      history.ref === this.#loaded.metadata.events_uri &&
      isWithin(COMPARE_AFTER_MS, history.comparedAt, this.#options.now);
    if (!mayAsk) return await this.#open();
    const hasRange = history.digest !== undefined && memory.bytes > 0;
    try {
      return await this.#open({
        ...(memory.etag === null ? {} : { ifNoneMatch: memory.etag }),
        ...(hasRange ? { range: { from: tailStart(history, memory) } } : {}),
      });
    } catch (error) {
      // The feed ends before the bytes that we know.
      if (isSigError(error, "fetch_status") && error.context.status === 416) {
        this.#sawDifference = true;
        return undefined;
      }
      // Ranges are beyond this server: it proves nothing.
      if (isSigError(error, "fetch_failed") && error.context.kind === "range") {
        return await this.#open();
      }
      throw error;
    }
  }

  async #readFromStart(
    memory?: IssuerMemory,
    reading: ReadFeedOptions = this.#reading(),
  ): Promise<RefreshedFeed> {
    this.#verification = undefined;
    const document = this.#bounded(await this.#open(), 0);
    try {
      const feed = await readFromStart(
        document,
        {
          issuer: this.#loaded.issuer,
          publicOnly: this.#loaded.metadata.public_only,
          limits: this.#options.limits,
          unknownEvents: this.#options.unknownEvents,
          unmatchedRevoke: this.#options.unmatchedRevoke,
        },
        reading,
        memory?.bytes,
      );
      this.#verification = feed.verification;
      this.#throwFaults();
      if (memory !== undefined) {
        const { history } = this.#record;
        const contradiction = judgeContinuity(memory, {
          keys: await this.#keys.remembered(memory),
          events: feed.verification.events,
          prefixSha256: feed.prefixSha256,
          firstDifference: history &&
            feed.marks.firstDifference(history.marks, memory.sequence),
        });
        if (contradiction !== undefined) throw contradiction;
      }
      return { ...feed, etag: document.etag, comparedAt: this.#options.now };
    } finally {
      await document.cancel();
    }
  }

  /**
   * The keys contradict the memory already; the feed tells whether it is rolled
   * back too, or faulty by itself. Lines that can't be verified for want of
   * those keys pass for events. A feed that can't be read changes nothing.
   */
  async #judgeWithoutKeys(
    memory: IssuerMemory,
    contradiction: SigError,
    kids: ReadonlySet<string>,
  ): Promise<never> {
    try {
      await this.#readFromStart(memory, {
        ...this.#reading(),
        refreshKeys: undefined,
        passOver: ({ code, context }) =>
          EXPLAINED_BY_KEYS.has(code) && kids.has(context.kid ?? ""),
      });
    } catch (error) {
      if (isFault(error)) throw error;
    }
    throw contradiction;
  }

  #reading(): ReadFeedOptions {
    const { now, report, breathe } = this.#options;
    return {
      keys: this.#keys.current,
      now,
      breathe,
      maxFaults: report ? MAX_REPORTED_FAULTS : undefined,
      refreshKeys: this.#keys.refetch,
    };
  }

  async #open(conditions?: FetchConditions): Promise<OpenedDocument> {
    const { document, warnings } = await this.#loaded.openFeed(conditions);
    this.#warnings = warnings;
    return document;
  }

  #bounded(document: OpenedDocument, knownBytes: number): OpenedDocument {
    const { allowance } = this.#options;
    if (allowance === undefined) return document;
    const bytes = allowance.follow(document.bytes, knownBytes);
    // Member by member: a spread would lose what a reader inherits.
    const { mediaType, etag, unchanged = false, range } = document;
    return {
      bytes,
      mediaType,
      etag,
      unchanged,
      ...(range === undefined ? {} : { range }),
      cancel: () => document.cancel(),
    };
  }

  #throwFaults(): void {
    const [fault] = this.progress.faults;
    if (fault !== undefined) throw fault;
  }
}
