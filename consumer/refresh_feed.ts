/** The feed's part of a refresh: which bytes to get, and what they prove. @module */

import { isSigError, type SigError, type Warning } from "@sig/core";
import type { KeyResolver } from "@sig/jose";
import { isFault } from "./fault.ts";
import type { FeedVerification, ReadFeedOptions } from "./feed_verification.ts";
import { fetchedKeys } from "./fetched_keys.ts";
import type { FetchConditions } from "./fetch_options.ts";
import {
  type FollowedFeed,
  goOn,
  readFromStart,
  tailStart,
} from "./follow_feed.ts";
import type { IssuerMemory } from "./issuer_memory.ts";
import type { IssuerRecord, KnownHistory } from "./issuer_record.ts";
import {
  contradictedKids,
  judgeContinuity,
  judgeKeys,
} from "./judge_continuity.ts";
import type { LoadedIssuer } from "./load_issuer.ts";
import type { OpenedDocument } from "./reader.ts";
import type { RefreshOptions } from "./refresh_issuer.ts";
import { MAX_REPORTED_FAULTS } from "./verify_report.ts";

/** A feed is compared from its first byte at least this often. */
const COMPARE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Keys are fetched a second time within one refresh at most this often. */
const REFETCH_KEYS_AFTER_MS = 30 * 1000;

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
  readonly #reload: () => Promise<LoadedIssuer>;
  readonly #options: RefreshOptions;
  #keys: KeyResolver;
  #verification: FeedVerification | undefined;
  #warnings: readonly Warning[] = [];
  #keysAreNewer = false;
  #sawDifference = false;

  constructor(
    record: IssuerRecord,
    loaded: LoadedIssuer,
    reload: () => Promise<LoadedIssuer>,
    options: RefreshOptions,
  ) {
    this.#record = record;
    this.#loaded = loaded;
    this.#reload = reload;
    this.#options = options;
    this.#keys = loaded.keys;
  }

  /** The keys that the last event was verified with. */
  get keys(): KeyResolver {
    return this.#keys;
  }

  /** The keys were fetched again: the documents at hand are older. */
  get keysAreNewer(): boolean {
    return this.#keysAreNewer;
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
    if (this.#keysAreNewer) await this.#compareKeys(feed.verification.kids);
    return feed;
  }

  async #refresh(): Promise<RefreshedFeed> {
    const { memory, history } = this.#record;
    if (memory === undefined) return await this.#readFromStart();
    const keys = await fetchedKeys(this.#keys, Object.keys(memory.keys));
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
    const document = await this.#openToGoOn(memory, history);
    if (document === undefined) return undefined;
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
    const document = await this.#open();
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
          keys: await fetchedKeys(this.#keys, Object.keys(memory.keys)),
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
      keys: this.#keys,
      now,
      breathe,
      maxFaults: report ? MAX_REPORTED_FAULTS : undefined,
      refreshKeys: isWithin(
          REFETCH_KEYS_AFTER_MS,
          this.#record.keysRefetchedAt,
          now,
        )
        ? undefined
        : () => this.#refetchKeys(),
    };
  }

  /** Newer keys contradict the memory no less than those that came first. */
  async #refetchKeys(): Promise<KeyResolver> {
    this.#record.keysRefetchedAt = this.#options.now;
    const { keys } = await this.#reload();
    const { memory } = this.#record;
    const contradiction = memory && judgeKeys(
      memory,
      await fetchedKeys(keys, Object.keys(memory.keys)),
    );
    if (contradiction !== undefined) throw contradiction;
    this.#keys = keys;
    this.#keysAreNewer = true;
    return keys;
  }

  /** What the first keys verified must hold by the newer ones too. */
  async #compareKeys(kids: Iterable<string>): Promise<void> {
    const { published, authorized } = await fetchedKeys(
      this.#loaded.keys,
      kids,
    );
    const used = [...published].filter(([kid]) => authorized.has(kid));
    const contradiction = judgeKeys(
      {
        keys: Object.fromEntries(used),
        sequence: this.progress.verifiedEvents,
      },
      await fetchedKeys(this.#keys, authorized),
    );
    if (contradiction !== undefined) throw contradiction;
  }

  async #open(conditions?: FetchConditions): Promise<OpenedDocument> {
    const { document, warnings } = await this.#loaded.openFeed(conditions);
    this.#warnings = warnings;
    return document;
  }

  #throwFaults(): void {
    const [fault] = this.progress.faults;
    if (fault !== undefined) throw fault;
  }
}

/** A clock that was set back must not keep anything for ever. */
function isWithin(limitMs: number, from: Date | undefined, now: Date): boolean {
  if (from === undefined) return false;
  const elapsedMs = now.getTime() - from.getTime();
  return elapsedMs >= 0 && elapsedMs < limitMs;
}
