/** Access to an issuer's documents, keys and feed, in turns. @module */

import {
  DEFAULT_LIMITS,
  isSigError,
  type Limits,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import type { SigningKey } from "@sig/jose/keys";
import type { FaultHooks } from "../disk/durable_file.ts";
import {
  documentsRevision,
  type IssuerDocuments,
  readDocuments,
} from "../documents/documents.ts";
import {
  chooseSigningKey,
  isKeptElsewhere,
  type Keys,
  type KeySource,
  resolveKeys,
} from "../documents/signing_key.ts";
import type { EventIndex } from "../index/feed_index.ts";
import { IndexError } from "../index/index_file.ts";
import { FeedIds } from "../store/feed_lines.ts";
import {
  DEFAULT_LOCK_TIMEOUT_MS,
  type FeedStore,
  type FeedWriter,
  type OpenFeed,
} from "../store/feed_store.ts";
import { recoverFeed, type RecoveryNotice } from "./recover_feed.ts";

/** Options of {@linkcode openIssuer}. */
export interface OpenIssuerOptions {
  /** The issuer's files. `close` closes the store. */
  readonly store: FeedStore;
  /**
   * The private keys: a key store, the one key that signs, or a function that
   * returns either for the issuer's documents.
   */
  readonly keys: KeySource;
  /** The clock. */
  readonly now: () => Date;
  /**
   * Identifier of the key that signs (default: the last key of the key set that
   * the DID document authorises and whose private part is in the key store).
   */
  readonly kid?: string;
  /** Sources of further private keys, which also sign checkpoints. */
  readonly otherKeys?: readonly KeySource[];
  /** Size limits (default: those of docs/protocol.md §8). */
  readonly limits?: Limits;
  /** Append drafts for which a reader would only warn (default: false). */
  readonly allowWarnings?: boolean;
  /**
   * Milliseconds to wait for another writer (default: 10,000; 40,000 if the
   * signing key is in an agent, where it may wait for a person).
   */
  readonly lockTimeoutMs?: number | undefined;
  /**
   * Append even if the feed lacks events that the index knows (default: false).
   * Readers that have seen those events will refuse the feed.
   */
  readonly acceptRollback?: boolean;
  /** Called for each repair after a crash. */
  readonly onRecovery?: (notice: RecoveryNotice) => void;
  /** For tests only. */
  readonly faults?: FaultHooks;
}

/** A key in an agent may take 30 s for one signature. */
export const AGENT_LOCK_TIMEOUT_MS = 40_000;

/** Attempts, each after resetting the index; the last one in memory. */
const MAX_ATTEMPTS = 4;

/** Work on a recovered feed, with an index whose head is the feed's end. */
export type FeedWork<T> = (
  feed: OpenFeed,
  index: EventIndex,
  documents: IssuerDocuments,
) => T | Promise<T>;

/** What the operations of an open issuer share. */
export class FeedSession {
  readonly options: OpenIssuerOptions;
  /** The event ids of the feed. */
  readonly ids = new FeedIds();
  /** Sources of private keys; the first one has the signing key. */
  readonly sources: KeySource[];
  #timeoutMs: number;
  #kid: string | undefined;
  #documents: IssuerDocuments | undefined;
  /** Revision of the documents; undefined forces reading them again. */
  #revision: string | undefined;
  /** The signing key, chosen on first use. */
  #key: SigningKey | undefined;
  /** Whether events are missing in the index file. */
  #hasPending = false;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  private constructor(options: OpenIssuerOptions) {
    this.options = options;
    this.#timeoutMs = options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS;
    this.sources = [options.keys, ...options.otherKeys ?? []];
    this.#kid = options.kid;
  }

  /** Reads the documents, so that wrong ones are reported immediately. */
  static async open(options: OpenIssuerOptions): Promise<FeedSession> {
    const session = new FeedSession(options);
    const documents = await session.readDocuments();
    const { keys, kid, lockTimeoutMs } = options;
    if (
      lockTimeoutMs === undefined && await isKeptElsewhere(documents, keys, kid)
    ) session.#timeoutMs = AGENT_LOCK_TIMEOUT_MS;
    return session;
  }

  /** Returns the private keys of the first source. */
  async ownKeys(documents: IssuerDocuments): Promise<Keys> {
    return await resolveKeys(this.sources[0]!, documents);
  }

  /** Returns the key that signs events. */
  async signingKey(documents: IssuerDocuments): Promise<SigningKey> {
    const [keys] = this.sources;
    return this.#key ??= await chooseSigningKey(documents, keys!, this.#kid);
  }

  /** Signs with another key from now on. */
  signWith(kid: string): void {
    this.forgetDocuments();
    this.#kid = kid;
  }

  /** Replaces the only key; the older one still signs checkpoints. */
  replaceKey(older: SigningKey, key: SigningKey): void {
    this.sources.splice(0, 1, key, older);
  }

  /** Returns the documents, read again only if they have changed. */
  async readDocuments(): Promise<IssuerDocuments> {
    const { limits = DEFAULT_LIMITS, store } = this.options;
    const before = this.#documents;
    const jwksPath = before?.jwksPath ?? WELL_KNOWN_PATHS.jwks;
    // Taken before reading, so that a concurrent change is seen next time.
    const revision = await documentsRevision(store, jwksPath);
    if (before !== undefined && revision === this.#revision) return before;
    const documents = await readDocuments(store, limits);
    this.#documents = documents;
    this.#revision = documents.jwksPath === jwksPath ? revision : undefined;
    this.#key = undefined;
    return documents;
  }

  /** Requires that the documents are read again. */
  forgetDocuments(): void {
    this.#documents = undefined;
  }

  /** Reads the feed up to its recovered end. */
  async readFeed() {
    const { documents, bytes } = await this.onFeed(
      (_, { head }, documents) => ({ documents, bytes: head!.bytes }),
    );
    // Read outside the lock: the feed's recovered bytes never change.
    const feed = await this.options.store
      .read(documents.feedPath, Number.MAX_SAFE_INTEGER);
    return { documents, feed: (feed ?? new Uint8Array()).slice(0, bytes) };
  }

  /**
   * Queues the work in this process, and holds the lock meanwhile. The
   * documents are read in the turn.
   */
  async takeTurn<T>(
    work: (writer: FeedWriter, documents: IssuerDocuments) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) {
      throw new TypeError("Cannot use an issuer after it was closed");
    }
    const timeoutMs = this.#timeoutMs;
    const mine = this.#turn.then(() =>
      this.options.store.exclusively(
        { timeoutMs },
        async (writer) => await work(writer, await this.readDocuments()),
      )
    );
    this.#turn = mine.catch(() => {});
    return await mine;
  }

  /** Runs {@linkcode FeedSession.withFeed} in its own turn. */
  async onFeed<T>(work: FeedWork<T>): Promise<T> {
    return await this.takeTurn((writer, documents) =>
      this.withFeed(writer, documents, work)
    );
  }

  /**
   * Runs work with an index at the recovered end of the feed. Retries with an
   * empty index if the index proves unusable.
   */
  async withFeed<T>(
    writer: FeedWriter,
    documents: IssuerDocuments,
    work: FeedWork<T>,
  ): Promise<T> {
    const { index } = writer;
    const feed = await writer.openFeed(documents.feedPath);
    try {
      for (let attempt = 1;; attempt++) {
        try {
          await recoverFeed(feed, index, documents, this.options);
          return await work(feed, index, documents);
        } catch (error) {
          if (!(error instanceof IndexError)) throw error;
          if (attempt === MAX_ATTEMPTS) {
            throw new SigError("store_unavailable", {
              action: "append",
              reason: "the index beside the feed can't be used",
              cause: error,
            });
          }
          index.discard();
        }
      }
    } finally {
      // A rotation opens the feed twice.
      feed.close();
    }
  }

  /**
   * Writes at least that many pending events to the index file. The events are
   * already durable: an index that fails is only behind.
   */
  flushIndex(index: EventIndex, least: number): void {
    try {
      if (index.pending >= least) index.flush();
    } catch (error) {
      if (!(error instanceof IndexError)) throw error;
    }
    this.#hasPending = index.pending > 0;
  }

  /** Waits for running operations, then closes the store. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#turn;
    await this.#leaveIndex();
    await this.options.store.close();
  }

  /** Writes pending events to the index, unless another writer is busy. */
  async #leaveIndex(): Promise<void> {
    if (!this.#hasPending) return;
    try {
      await this.options.store.exclusively(
        { timeoutMs: 0 },
        async ({ index }) => await Promise.resolve(this.flushIndex(index, 1)),
      );
    } catch (error) {
      if (!isSigError(error)) throw error;
    }
  }
}
