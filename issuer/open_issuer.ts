/**
 * An issuer at work.
 *
 * Long because of its documentation: the rest is one class that guards one turn,
 * one lock and one index.
 *
 * @module
 */

import {
  DEFAULT_LIMITS,
  type FeedState,
  isSigError,
  type Limits,
  SigError,
  type Warning,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import type { KeyResolver, SigningKey, VerificationKey } from "@sig/jose/keys";
import type { Checkpoint } from "@sig/jose/proofs";
import { appendDrafts, type AppendedEvent } from "./append/append_batch.ts";
import { type BackupKeys, type IssuerBackup, readBackup } from "./backup.ts";
import { recoverFeed, type RecoveryNotice } from "./append/recover_feed.ts";
import { type FeedIndex, IndexError } from "./index/feed_index.ts";
import {
  documentsRevision,
  type IssuerDocuments,
  readDocuments,
} from "./documents/documents.ts";
import { type EventDraft, refused } from "./append/draft.ts";
import type { FaultHooks } from "./disk/durable_file.ts";
import {
  type CurrentQuestion,
  type CurrentRelationships,
  readCurrent,
} from "./append/current.ts";
import { FeedIds } from "./store/feed_lines.ts";
import {
  DEFAULT_LOCK_TIMEOUT_MS,
  type FeedStore,
  type FeedWriter,
  type OpenFeed,
} from "./store/feed_store.ts";
import {
  PublishedRelationships,
  type PublishedState,
} from "./plan/published.ts";
import { replayFeed } from "./append/verify_feed.ts";
import {
  requireNotBehind,
  type RestoredFeed,
  restoreFeed,
} from "./append/restore.ts";
import {
  type CheckpointOptions,
  updateProofs,
  type UpdateProofsOptions,
} from "./proofs/update_proofs.ts";
import { isReferenced } from "./keys/key_store.ts";
import { addSigningKey, type RotateKeyOptions } from "./rotate_key.ts";
import {
  chooseSigningKey,
  heldKeys,
  isKeptElsewhere,
  isSigningKey,
  type KeySource,
  resolveKeys,
} from "./documents/signing_key.ts";

/** Options of {@linkcode openIssuer}. */
export interface OpenIssuerOptions {
  /** Where the issuer's files are. `close` closes it. */
  readonly store: FeedStore;
  /**
   * Where its private keys are kept, or the one key that signs; or what tells
   * which, once the issuer's documents are known.
   */
  readonly keys: KeySource;
  /** The clock. */
  readonly now: () => Date;
  /**
   * The key that signs (default: the last one of the key set that the DID document
   * authorises and whose private part is in the key store).
   */
  readonly kid?: string;
  /** Where further private keys are, which sign checkpoints as well. */
  readonly otherKeys?: readonly KeySource[];
  /** Size limits (default: those of docs/protocol.md §8). */
  readonly limits?: Limits;
  /** Write even what a reader of the feed would warn about. */
  readonly allowWarnings?: boolean;
  /**
   * Milliseconds to wait for another writer (default: 10,000; 40,000 if the key
   * that signs is kept elsewhere, where it may wait for a person).
   */
  readonly lockTimeoutMs?: number | undefined;
  /**
   * Go on after the feed's end even where later events are known to have been
   * there; readers that saw those will refuse the feed.
   */
  readonly acceptRollback?: boolean;
  /** Told of whatever was mended after a crash. */
  readonly onRecovery?: (notice: RecoveryNotice) => void;
  /** For tests only. */
  readonly faults?: FaultHooks;
}

/** Options of {@linkcode Issuer.appendAll}. */
export interface AppendOptions {
  /**
   * Append only while the feed ends with this sequence, else reject with
   * `plan_outdated`: the drafts were made for that feed.
   */
  readonly ifLastSequence?: number | undefined;
  /**
   * Faults of drafts to collect before it rejects, in `context.errors`, each
   * with its `draft` (default: 1, the first fault).
   */
  readonly maxFaults?: number | undefined;
  /** Told now and then how many drafts were judged and signed. */
  readonly onProgress?: ((drafts: number) => void) | undefined;
}

/** What {@linkcode Issuer.rotateKey} did. */
export interface RotatedKey {
  /** The key that signs from now on. */
  readonly kid: string;
  /** `proofs_behind` if the proofs could not be signed once more. */
  readonly warnings: readonly Warning[];
}

/** What {@linkcode Issuer.identity} tells. */
export interface IssuerIdentity {
  /** The issuer's DID. */
  readonly did: string;
  /** The key that signs its events now. */
  readonly signingKey: SigningKey;
  /** The keys that it publishes, as a reader of its documents takes them. */
  readonly keys: KeyResolver;
}

/**
 * Opens an issuer that {@linkcode initIssuer}, or another SIG implementation,
 * has made. Its documents are read at once; what others change later is seen.
 *
 * Every append recovers the feed's end first: a crash at any point leaves at
 * worst an unfinished line, which is kept aside, never a wrong event
 * (docs/protocol.md §11). The cost of an append does not depend on the feed's length.
 *
 * @example Appending
 * ```ts
 * import {
 *   createMemoryKeyStore,
 *   createMemoryStore,
 *   initIssuer,
 *   openIssuer,
 * } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * const store = createMemoryStore();
 * const keys = createMemoryKeyStore();
 * await initIssuer({ store, keys, did: "did:web:acme.example" });
 *
 * await using issuer = await openIssuer({ store, keys, now: () => new Date() });
 * const { relationship_id } = await issuer.append({
 *   event_type: "relationship.upsert",
 *   subject: "did:web:alice.example",
 *   relationship_type: "employee",
 *   roles: ["deploy"],
 * });
 * const { sequence } = await issuer.append({
 *   event_type: "relationship.revoke",
 *   relationship_id,
 *   reason_code: "employment_ended",
 * });
 * assertEquals(sequence, 2);
 * ```
 *
 * @throws {SigError} `source_not_found`, `invalid_metadata`,
 * `invalid_did_document`, `invalid_key`, `private_key_in_jwks`,
 * `duplicate_kid`, `document_too_large`, `store_unavailable`.
 */
export async function openIssuer(options: OpenIssuerOptions): Promise<Issuer> {
  return await Issuer.open(options);
}

/**
 * Events that the index may be behind. Its file is not written for each event,
 * which would double the cost of an append; after a crash so many lines are
 * verified again.
 */
const MAX_PENDING = 256;

/** A key in an agent may take 30 s for one signature. */
export const AGENT_LOCK_TIMEOUT_MS = 40_000;

/** Attempts with an index that was reset, the last one in memory. */
const MAX_ATTEMPTS = 4;

/** Work on a feed up to whose recovered end the index goes. */
type FeedWork<T> = (
  feed: OpenFeed,
  index: FeedIndex,
  documents: IssuerDocuments,
) => T | Promise<T>;

/** An open issuer. Its methods may be called at any time; they take turns. */
export class Issuer implements AsyncDisposable {
  readonly #options: OpenIssuerOptions;
  readonly #limits: Limits;
  #timeoutMs: number;
  #keys: KeySource;
  readonly #otherKeys: KeySource[];
  #kid: string | undefined;
  #documents: IssuerDocuments | undefined;
  /** Of the documents; undefined when it isn't known: then they are read again. */
  #revision: string | undefined;
  /** Chosen when it is first needed. */
  #key: SigningKey | undefined;
  /** Whether the index's file is behind. */
  #hasPending = false;
  readonly #ids = new FeedIds();
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  private constructor(options: OpenIssuerOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#timeoutMs = options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS;
    this.#keys = options.keys;
    this.#otherKeys = [...options.otherKeys ?? []];
    this.#kid = options.kid;
  }

  /** {@linkcode openIssuer}. */
  static async open(options: OpenIssuerOptions): Promise<Issuer> {
    const issuer = new Issuer(options);
    const documents = await issuer.#readDocuments();
    const { keys, kid, lockTimeoutMs } = options;
    if (
      lockTimeoutMs === undefined && await isKeptElsewhere(documents, keys, kid)
    ) issuer.#timeoutMs = AGENT_LOCK_TIMEOUT_MS;
    return issuer;
  }

  /**
   * Appends one event: durable when the promise resolves; when it rejects,
   * nothing was written.
   *
   * A draft whose `event_id` the feed has already, with every given member
   * equal, is not written again: its sequence is returned, `repeated` is true.
   *
   * Rejects with a `SigError`: the code of a wrong field (`missing_field`,
   * `invalid_field`, `unknown_event_type`, `private_event_in_public_feed`; also
   * `invalid_field` for what a reader would only warn about, unless
   * `allowWarnings`), `duplicate_event_id`, `unknown_relationship`,
   * `already_revoked` (unless `amend`), `line_too_long`, `feed_too_large`,
   * `too_many_events`, `signing_key_not_found`, `key_not_authorized`,
   * `invalid_key`, `feed_locked`, `write_failed`, `store_unavailable`,
   * `source_not_found`, `invalid_metadata`, `invalid_did_document`,
   * `feed_rolled_back` and `feed_rewritten` (the feed lacks events that the
   * index knows of; unless `acceptRollback`), and the fault of a feed line that is complete and wrong.
   */
  async append(draft: EventDraft): Promise<AppendedEvent> {
    const [appended] = await this.appendAll([draft]);
    return appended!;
  }

  /**
   * Appends several events, all or none of them, with one lock, one write and
   * one flush. A draft may build on those before it. When it rejects,
   * `context.draft` is the index of the faulty draft. Only a crash in the middle
   * of the write can leave the first ones without the others: give the drafts
   * an `event_id` each, and the same call completes them.
   */
  async appendAll(
    drafts: readonly EventDraft[],
    { ifLastSequence, maxFaults, onProgress }: AppendOptions = {},
  ): Promise<readonly AppendedEvent[]> {
    if (drafts.length === 0) return [];
    const { allowWarnings = false, faults, now } = this.#options;
    return await this.#takeTurn(async (writer) => {
      const documents = await this.#readDocuments();
      const key = await this.#signingKey(documents);
      return await this.#withFeed(writer, documents, async (feed, index) => {
        faults?.onStep?.("recovered");
        requireEnd(index.head!.sequence, ifLastSequence);
        const appended = await appendDrafts(drafts, feed, index, {
          ...documents,
          ...{ key, allowWarnings, now: now(), ids: this.#ids },
          ...{ maxFaults, onProgress },
        });
        flushIndex(index, MAX_PENDING);
        this.#hasPending = index.pending > 0;
        faults?.onStep?.("indexed");
        return appended;
      });
    });
  }

  /**
   * Adds a key at the end of the key set and to `assertionMethod`, keeps the
   * old ones, and signs with it from now on. A rotation that was broken off is
   * completed by the same call.
   *
   * Rejects with a `SigError`: `kid_exists`, `invalid_identifier`,
   * `invalid_key`, `document_too_large`, and those of the store.
   */
  async rotateKey(options: RotateKeyOptions): Promise<RotatedKey> {
    return await this.#takeTurn(async (writer) => {
      const documents = await this.#readDocuments();
      const keys = await resolveKeys(this.#keys, documents);
      const key = await addSigningKey(writer, options, {
        documents,
        keys,
        beforePublishing: async (next, published) => {
          if (documents.metadata.proofs_uri === undefined) return;
          await this.#introduce(writer, next, published);
        },
        onStep: this.#options.faults?.onStep,
      });
      this.#documents = undefined;
      this.#kid = key.kid;
      if (isSigningKey(keys)) {
        this.#keys = key;
        this.#otherKeys.push(keys);
      }
      return { kid: key.kid, warnings: await this.#tryProofs(writer) };
    });
  }

  /**
   * Brings the proofs up to the feed's end and signs their checkpoint with every
   * key that is at hand; also renews its time (docs/protocol.md §13.6). The files
   * are complete before the checkpoint that needs them is published.
   *
   * Rejects with a `SigError`, and has signed nothing: `invalid_request` if
   * there are no proofs and `init` is not given, `feed_rolled_back` and
   * `feed_rewritten` if the feed does not continue the one that was signed,
   * `subject_changed`, `proof_invalid` and `invalid_checkpoint` if files are
   * damaged, `signing_key_not_found`, and those of an append.
   */
  async checkpoint(options: CheckpointOptions = {}): Promise<Checkpoint> {
    return await this.#takeTurn((writer) =>
      this.#updateProofs(writer, options)
    );
  }

  /**
   * {@linkcode Issuer.checkpoint} after appends, if the issuer publishes proofs.
   * It does not reject for a `SigError`: what was appended remains in effect, and
   * readers read on from the last checkpoint.
   *
   * @returns the warning `proofs_behind` if it failed.
   */
  async refreshProofs(): Promise<readonly Warning[]> {
    return await this.#takeTurn((writer) => this.#tryProofs(writer));
  }

  /**
   * Who the issuer is, for what it signs and verifies beside its feed, such as
   * invitations. Read again where its documents have changed.
   *
   * Rejects with a `SigError`: `signing_key_not_found`, `key_not_authorized`,
   * `invalid_key`, and those of the documents.
   */
  async identity(): Promise<IssuerIdentity> {
    return await this.#takeTurn(async () => {
      const documents = await this.#readDocuments();
      const { issuer: did, keys } = documents;
      return { did, keys, signingKey: await this.#signingKey(documents) };
    });
  }

  /**
   * The state that the feed derives, from a full verification of every line.
   * Rejects with the first fault's `SigError`.
   */
  async state(): Promise<FeedState> {
    const { documents, feed } = await this.#readFeed();
    return await replayFeed(feed, documents);
  }

  /**
   * What the feed says of each relationship, display and metadata included:
   * what `planChanges` compares with. Verified as by {@linkcode Issuer.state},
   * and rejects likewise.
   */
  async published(): Promise<PublishedState> {
    const { documents, feed } = await this.#readFeed();
    const relationships = new PublishedRelationships();
    const { issuer, last_sequence } = await replayFeed(
      feed,
      documents,
      { onEvent: (event) => relationships.add(event), keepOnly: null },
    );
    const digest = await crypto.subtle.digest("SHA-256", feed);
    return {
      issuer,
      last_sequence,
      feed_sha256: new Uint8Array(digest).toHex(),
      relationships: relationships.byId,
      personOf: (subject) => relationships.persons.rootOf(subject),
      canLink: (subject, named) => relationships.canLink(subject, named),
    };
  }

  /**
   * What the feed says of one relationship, and of a subject's active ones,
   * right now. Costs the same after any number of events.
   */
  async current(question: CurrentQuestion): Promise<CurrentRelationships> {
    return await this.#onFeed((feed, index, { parseLine }) =>
      readCurrent(question, feed, index, parseLine)
    );
  }

  /**
   * Rejects with `feed_rolled_back` when this feed ends before a published copy
   * of it, with `feed_rewritten` when the two differ. The copy is not verified.
   */
  async requireNotBehind(published: Uint8Array): Promise<void> {
    await this.#takeTurn(async (writer) => {
      const { feedPath } = await this.#readDocuments();
      await requireNotBehind(await writer.openFeed(feedPath), published);
    });
  }

  /**
   * Brings a feed that has lost its end, such as one from a backup, up to the
   * published one, durably. Every published line is verified with the keys of
   * this issuer first.
   *
   * Rejects with a `SigError`: `feed_rewritten` when the published feed does not
   * continue this one byte for byte, `incomplete_line`, the fault of a published
   * line, and those of the store; then nothing was written.
   */
  async restore(published: Uint8Array): Promise<RestoredFeed> {
    return await this.#takeTurn(async (writer) => {
      const documents = await this.#readDocuments();
      const feed = await writer.openFeed(documents.feedPath);
      return await restoreFeed(
        feed,
        published,
        documents,
        this.#options.now(),
      );
    });
  }

  /**
   * What a backup holds: documents, names, the feed up to its recovered end, and
   * private keys. What can be made again is left out: the index and the proofs.
   *
   * Rejects with a `SigError`: `signing_key_not_found` if the newest key is in
   * neither place, those of the documents, and those of an append that are about
   * the feed.
   */
  async backup(keys: BackupKeys): Promise<IssuerBackup> {
    const { store } = this.#options;
    return await this.#onFeed((_, { head }, documents) =>
      readBackup(store, documents, head!.bytes, keys)
    );
  }

  /** Waits for what is under way, then closes the store. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#turn;
    await this.#leaveIndex();
    await this.#options.store.close();
  }

  /** {@linkcode Issuer.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The feed up to its recovered end. */
  async #readFeed() {
    const { documents, bytes } = await this.#onFeed((
      _,
      { head },
      documents,
    ) => ({
      ...{ documents, bytes: head!.bytes },
    }));
    // Outside of the lock: what is there by now stays as it is.
    const feed = await this.#options.store
      .read(documents.feedPath, Number.MAX_SAFE_INTEGER);
    return { documents, feed: (feed ?? new Uint8Array()).slice(0, bytes) };
  }

  /** The documents as they are now; read again only when they have changed. */
  async #readDocuments(): Promise<IssuerDocuments> {
    const { store } = this.#options;
    const before = this.#documents;
    const jwksPath = before?.jwksPath ?? WELL_KNOWN_PATHS.jwks;
    // Asked before reading: a change meanwhile is then seen the next time.
    const revision = await documentsRevision(store, jwksPath);
    if (before !== undefined && revision === this.#revision) return before;
    const documents = await readDocuments(store, this.#limits);
    this.#documents = documents;
    this.#revision = documents.jwksPath === jwksPath ? revision : undefined;
    this.#key = undefined;
    return documents;
  }

  /** Spares the next one to open the issuer some work, if nobody is writing. */
  async #leaveIndex(): Promise<void> {
    if (!this.#hasPending) return;
    try {
      await this.#options.store.exclusively(
        { timeoutMs: 0 },
        async ({ index }) => await Promise.resolve(flushIndex(index, 1)),
      );
    } catch (error) {
      if (!isSigError(error)) throw error;
    }
  }

  /** One after the other here, and under the lock for everyone else. */
  async #takeTurn<T>(work: (writer: FeedWriter) => Promise<T>): Promise<T> {
    if (this.#closed) {
      throw new TypeError("Cannot use an issuer after it was closed");
    }
    const timeoutMs = this.#timeoutMs;
    const mine = this.#turn.then(() =>
      this.#options.store.exclusively({ timeoutMs }, work)
    );
    this.#turn = mine.catch(() => {});
    return await mine;
  }

  async #signingKey(documents: IssuerDocuments): Promise<SigningKey> {
    return this.#key ??= await chooseSigningKey(
      documents,
      this.#keys,
      this.#kid,
    );
  }

  /**
   * A checkpoint that names a key before it is published, signed by it and by
   * the keys before it: readers accept no new key without.
   */
  async #introduce(
    writer: FeedWriter,
    key: SigningKey,
    published: VerificationKey,
  ): Promise<void> {
    const next = { key, published };
    const held = await heldKeys(await this.#readDocuments(), this.#sources);
    // Without an older key, no reader could open the checkpoint before then.
    if (held.every(({ kid }) => kid === key.kid)) return;
    try {
      await this.#updateProofs(writer, {}, next);
    } catch (error) {
      // A key that was stolen is replaced all the same.
      if (!isSigError(error, "subject_changed")) throw error;
      await this.#updateProofs(writer, { stay: true }, next);
    }
  }

  get #sources(): readonly KeySource[] {
    return [this.#keys, ...this.#otherKeys];
  }

  async #tryProofs(writer: FeedWriter): Promise<readonly Warning[]> {
    const behind = (detail: string) =>
      [{ code: "proofs_behind", detail }] as const;
    try {
      const documents = await this.#readDocuments();
      if (documents.metadata.proofs_uri === undefined) return [];
      if (await this.#newestIsElsewhere(documents)) {
        return behind(
          "the newest key is in an agent; sig checkpoint brings the proofs up to the feed's end",
        );
      }
      await this.#updateProofs(writer, { withoutReferences: true });
      return [];
    } catch (error) {
      if (!isSigError(error)) throw error;
      return behind(`the proofs were not updated: ${error.message}`);
    }
  }

  async #newestIsElsewhere(documents: IssuerDocuments): Promise<boolean> {
    for (const source of this.#sources) {
      if (await isKeptElsewhere(documents, source)) return true;
    }
    return isReferenced(await this.#signingKey(documents));
  }

  async #updateProofs(
    writer: FeedWriter,
    options: UpdateProofsOptions,
    next?: { readonly key: SigningKey; readonly published: VerificationKey },
  ): Promise<Checkpoint> {
    const documents = await this.#readDocuments();
    const held = await heldKeys(documents, this.#sources, options);
    options.onKeys?.(held);
    const { now, store } = this.#options;
    return await this.#withFeed(
      writer,
      documents,
      (feed, known) =>
        updateProofs({
          ...{ documents, feed, held, known, next, store, writer },
          now: now(),
        }, options),
    );
  }

  /** {@linkcode #withFeed} in a turn of its own. */
  async #onFeed<T>(work: FeedWork<T>): Promise<T> {
    return await this.#takeTurn(async (writer) =>
      await this.#withFeed(writer, await this.#readDocuments(), work)
    );
  }

  /**
   * Works with an index that stands at the recovered end of the feed; starts over
   * with an empty one when it proves unusable.
   */
  async #withFeed<T>(
    writer: FeedWriter,
    documents: IssuerDocuments,
    work: FeedWork<T>,
  ): Promise<T> {
    const { index } = writer;
    const feed = await writer.openFeed(documents.feedPath);
    try {
      for (let attempt = 1;; attempt++) {
        try {
          await recoverFeed(feed, index, documents, this.#options);
          return await work(feed, index, documents);
        } catch (error) {
          if (!(error instanceof IndexError)) throw error;
          if (attempt === MAX_ATTEMPTS) {
            throw new SigError(
              "store_unavailable",
              "Cannot append: the index beside the feed can't be used",
              { cause: error },
            );
          }
          index.discard();
        }
      }
    } finally {
      // A rotation opens it twice.
      feed.close();
    }
  }
}

/** Events are durable already: an index that fails is only behind. */
function flushIndex(index: FeedIndex, most: number): void {
  if (index.pending < most) return;
  try {
    index.flush();
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
  }
}

/** Drafts that were made for one end of the feed fit no other. */
function requireEnd(sequence: number, expected: number | undefined): void {
  if (expected === undefined || sequence === expected) return;
  const why =
    `the feed ends at sequence ${sequence}, not ${expected} as when this was planned`;
  throw refused("plan_outdated", why, {
    ...{ sequence, expected },
    hint: "Somebody else has appended. Make the plan again.",
  });
}
