/**
 * An issuer at work.
 *
 * Long because more than half of it is the documented contract; what is left is
 * one class that guards one turn, one lock and one index.
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
import type { EventDraft } from "./append/draft.ts";
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
import {
  createLineRules,
  type LineRules,
  replayFeed,
} from "./append/verify_feed.ts";
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

/** An open issuer. Its methods may be called at any time; they take turns. */
export interface Issuer {
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
  append(draft: EventDraft): Promise<AppendedEvent>;
  /**
   * Appends several events, all or none of them, with one lock, one write and
   * one flush. A draft may build on those before it. When it rejects,
   * `context.draft` is the index of the faulty draft. Only a crash in the middle
   * of the write can leave the first ones without the others: give the drafts
   * an `event_id` each, and the same call completes them.
   */
  appendAll(
    drafts: readonly EventDraft[],
    options?: AppendOptions,
  ): Promise<readonly AppendedEvent[]>;
  /**
   * Adds a key at the end of the key set and to `assertionMethod`, keeps the
   * old ones, and signs with it from now on. A rotation that was broken off is
   * completed by the same call.
   *
   * Rejects with a `SigError`: `kid_exists`, `invalid_identifier`,
   * `invalid_key`, `document_too_large`, and those of the store.
   */
  rotateKey(options: RotateKeyOptions): Promise<RotatedKey>;
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
  checkpoint(options?: CheckpointOptions): Promise<Checkpoint>;
  /**
   * {@linkcode Issuer.checkpoint} after appends, if the issuer publishes proofs.
   * It does not reject for a `SigError`: what was appended remains in effect, and
   * readers read on from the last checkpoint.
   *
   * @returns the warning `proofs_behind` if it failed.
   */
  refreshProofs(): Promise<readonly Warning[]>;
  /**
   * Who the issuer is, for what it signs and verifies beside its feed, such as
   * invitations. Read again where its documents have changed.
   *
   * Rejects with a `SigError`: `signing_key_not_found`, `key_not_authorized`,
   * `invalid_key`, and those of the documents.
   */
  identity(): Promise<IssuerIdentity>;
  /**
   * The state that the feed derives, from a full verification of every line.
   * Rejects with the first fault's `SigError`.
   */
  state(): Promise<FeedState>;
  /**
   * What the feed says of each relationship, display and metadata included:
   * what `planChanges` compares with. Verified as by {@linkcode Issuer.state},
   * and rejects likewise.
   */
  published(): Promise<PublishedState>;
  /**
   * What the feed says of one relationship, and of a subject's active ones,
   * right now. Costs the same after any number of events.
   */
  current(question: CurrentQuestion): Promise<CurrentRelationships>;
  /**
   * Rejects with `feed_rolled_back` when this feed ends before a published copy
   * of it, with `feed_rewritten` when the two differ. The copy is not verified.
   */
  requireNotBehind(published: Uint8Array): Promise<void>;
  /**
   * Brings a feed that has lost its end, such as one from a backup, up to the
   * published one, durably. Every published line is verified with the keys of
   * this issuer first.
   *
   * Rejects with a `SigError`: `feed_rewritten` when the published feed does not
   * continue this one byte for byte, `incomplete_line`, the fault of a published
   * line, and those of the store; then nothing was written.
   */
  restore(published: Uint8Array): Promise<RestoredFeed>;
  /**
   * What a backup holds: documents, names, the feed up to its recovered end, and
   * private keys. What can be made again is left out: the index and the proofs.
   *
   * Rejects with a `SigError`: `signing_key_not_found` if the newest key is in
   * neither place, those of the documents, and those of an append that are about
   * the feed.
   */
  backup(keys: BackupKeys): Promise<IssuerBackup>;
  /** Waits for what is under way, then closes the store. */
  close(): Promise<void>;
  /** {@linkcode Issuer.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
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
  const issuer = new OpenedIssuer(options);
  await issuer.open();
  return issuer;
}

/** What was read and depends on the documents. */
interface Loaded {
  /** Undefined when it isn't known: then they are read again. */
  readonly revision: string | undefined;
  readonly documents: IssuerDocuments;
  readonly rules: LineRules;
  /** Chosen when it is first needed. */
  key: SigningKey | undefined;
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

class OpenedIssuer implements Issuer {
  readonly #options: OpenIssuerOptions;
  readonly #limits: Limits;
  #timeoutMs: number;
  #keys: KeySource;
  readonly #otherKeys: KeySource[];
  #kid: string | undefined;
  #loaded: Loaded | undefined;
  /** Whether the index's file is behind. */
  #hasPending = false;
  readonly #ids = new FeedIds();
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: OpenIssuerOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#timeoutMs = options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS;
    this.#keys = options.keys;
    this.#otherKeys = [...options.otherKeys ?? []];
    this.#kid = options.kid;
  }

  /** Reads the documents, and how long others may hold the lock. */
  async open(): Promise<void> {
    const { documents } = await this.readDocuments();
    if (this.#options.lockTimeoutMs !== undefined) return;
    const mayWait = await isKeptElsewhere(documents, this.#keys, this.#kid);
    if (mayWait) this.#timeoutMs = AGENT_LOCK_TIMEOUT_MS;
  }

  async append(draft: EventDraft): Promise<AppendedEvent> {
    const [appended] = await this.appendAll([draft]);
    if (appended === undefined) throw new RangeError("Cannot append nothing");
    return appended;
  }

  async appendAll(
    drafts: readonly EventDraft[],
    options: AppendOptions = {},
  ): Promise<readonly AppendedEvent[]> {
    if (drafts.length === 0) return [];
    return await this.#takeTurn((writer) =>
      this.#append(drafts, writer, options)
    );
  }

  async rotateKey(options: RotateKeyOptions): Promise<RotatedKey> {
    return await this.#takeTurn(async (writer) => {
      const { documents } = await this.readDocuments();
      const keys = await resolveKeys(this.#keys, documents);
      const key = await addSigningKey(writer, options, {
        documents,
        keys,
        limits: this.#limits,
        beforePublishing: async (next, published) => {
          if (documents.metadata.proofs_uri === undefined) return;
          await this.#introduce(writer, next, published);
        },
        onStep: this.#options.faults?.onStep,
      });
      this.#loaded = undefined;
      this.#kid = key.kid;
      if (isSigningKey(keys)) {
        this.#keys = key;
        this.#otherKeys.push(keys);
      }
      return { kid: key.kid, warnings: await this.#tryProofs(writer) };
    });
  }

  async checkpoint(options: CheckpointOptions = {}): Promise<Checkpoint> {
    return await this.#takeTurn((writer) =>
      this.#updateProofs(writer, options)
    );
  }

  async refreshProofs(): Promise<readonly Warning[]> {
    return await this.#takeTurn((writer) => this.#tryProofs(writer));
  }

  async identity(): Promise<IssuerIdentity> {
    return await this.#takeTurn(async () => {
      const loaded = await this.readDocuments();
      const { metadata, keys } = loaded.documents;
      const signingKey = await this.#signingKey(loaded);
      return { did: metadata.issuer, signingKey, keys };
    });
  }

  async state(): Promise<FeedState> {
    const { feed, rules } = await this.#readFeed();
    return await replayFeed(feed, rules);
  }

  async published(): Promise<PublishedState> {
    const { feed, rules } = await this.#readFeed();
    const relationships = new PublishedRelationships();
    const { issuer, last_sequence } = await replayFeed(
      feed,
      rules,
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

  async current(question: CurrentQuestion): Promise<CurrentRelationships> {
    return await this.#takeTurn(async (writer) => {
      const loaded = await this.readDocuments();
      const feed = await writer.openFeed(loaded.documents.feedPath);
      return await this.#withIndex(
        [feed, writer, loaded],
        (index) => readCurrent(question, feed, index, this.#limits),
      );
    });
  }

  async requireNotBehind(published: Uint8Array): Promise<void> {
    await this.#takeTurn(async (writer) => {
      const { documents } = await this.readDocuments();
      const feed = await writer.openFeed(documents.feedPath);
      await requireNotBehind(feed, published);
    });
  }

  async restore(published: Uint8Array): Promise<RestoredFeed> {
    return await this.#takeTurn(async (writer) => {
      const { documents, rules } = await this.readDocuments();
      const feed = await writer.openFeed(documents.feedPath);
      return await restoreFeed(feed, published, rules, this.#options.now());
    });
  }

  async backup(keys: BackupKeys): Promise<IssuerBackup> {
    return await this.#takeTurn(async (writer) => {
      const loaded = await this.readDocuments();
      const { documents } = loaded;
      const feed = await writer.openFeed(documents.feedPath);
      const { store } = this.#options;
      return await this.#withIndex(
        [feed, writer, loaded],
        ({ head }) => readBackup(store, documents, head!.bytes, keys),
      );
    });
  }

  /** The feed up to its recovered end. */
  async #readFeed(): Promise<
    { readonly feed: Uint8Array<ArrayBuffer>; readonly rules: LineRules }
  > {
    const { loaded, bytes } = await this.#takeTurn(async (writer) => {
      const loaded = await this.readDocuments();
      const feed = await writer.openFeed(loaded.documents.feedPath);
      return await this.#withIndex(
        [feed, writer, loaded],
        ({ head }) => ({ loaded, bytes: head!.bytes }),
      );
    });
    const { documents, rules } = loaded;
    const { store } = this.#options;
    // Outside of the lock: what is there by now stays as it is.
    const feed = await store.read(documents.feedPath, Number.MAX_SAFE_INTEGER);
    return { feed: (feed ?? new Uint8Array()).slice(0, bytes), rules };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#turn;
    await this.#leaveIndex();
    await this.#options.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The documents as they are now; read again only when they have changed. */
  async readDocuments(): Promise<Loaded> {
    const { store } = this.#options;
    const before = this.#loaded;
    const jwksPath = before?.documents.jwksPath ?? WELL_KNOWN_PATHS.jwks;
    // Asked before reading: a change meanwhile is then seen the next time.
    const revision = await documentsRevision(store, jwksPath);
    if (revision === before?.revision) return before;
    const documents = await readDocuments(store, this.#limits);
    const { issuer, public_only: publicOnly } = documents.metadata;
    const { keys } = documents;
    const limits = this.#limits;
    this.#loaded = {
      revision: documents.jwksPath === jwksPath ? revision : undefined,
      documents,
      rules: createLineRules({ issuer, publicOnly, keys, limits }),
      key: undefined,
    };
    return this.#loaded;
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

  async #signingKey(loaded: Loaded): Promise<SigningKey> {
    const { documents } = loaded;
    return loaded.key ??= await chooseSigningKey(
      documents,
      this.#keys,
      this.#kid,
    );
  }

  async #append(
    drafts: readonly EventDraft[],
    writer: FeedWriter,
    { ifLastSequence, maxFaults, onProgress }: AppendOptions,
  ): Promise<readonly AppendedEvent[]> {
    const { allowWarnings, faults, now } = this.#options;
    const loaded = await this.readDocuments();
    const { documents } = loaded;
    const context = {
      issuer: documents.metadata.issuer,
      publicOnly: documents.metadata.public_only,
      key: await this.#signingKey(loaded),
      limits: this.#limits,
      allowWarnings: allowWarnings ?? false,
      now: now(),
      ids: this.#ids,
      maxFaults,
      onProgress,
    };
    const feed = await writer.openFeed(documents.feedPath);
    const appended = await this.#withIndex(
      [feed, writer, loaded],
      async (index) => {
        faults?.onStep?.("recovered");
        requireEnd(index.head!.sequence, ifLastSequence);
        return await appendDrafts(drafts, feed, index, context);
      },
    );
    flushIndex(writer.index, MAX_PENDING);
    this.#hasPending = writer.index.pending > 0;
    faults?.onStep?.("indexed");
    return appended;
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
    const { documents } = await this.readDocuments();
    const held = await heldKeys(documents, [this.#keys, ...this.#otherKeys]);
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

  async #tryProofs(writer: FeedWriter): Promise<readonly Warning[]> {
    try {
      const loaded = await this.readDocuments();
      if (loaded.documents.metadata.proofs_uri === undefined) return [];
      if (await this.#newestIsElsewhere(loaded)) {
        const detail =
          "the newest key is in an agent; sig checkpoint brings the proofs up to the feed's end";
        return [{ code: "proofs_behind", detail }];
      }
      await this.#updateProofs(writer, { withoutReferences: true });
      return [];
    } catch (error) {
      if (!isSigError(error)) throw error;
      const detail = `the proofs were not updated: ${error.message}`;
      return [{ code: "proofs_behind", detail }];
    }
  }

  async #newestIsElsewhere(loaded: Loaded): Promise<boolean> {
    for (const source of [this.#keys, ...this.#otherKeys]) {
      if (await isKeptElsewhere(loaded.documents, source)) return true;
    }
    return isReferenced(await this.#signingKey(loaded));
  }

  async #updateProofs(
    writer: FeedWriter,
    options: UpdateProofsOptions,
    next?: { readonly key: SigningKey; readonly published: VerificationKey },
  ): Promise<Checkpoint> {
    const loaded = await this.readDocuments();
    const { documents, rules } = loaded;
    const sources = [this.#keys, ...this.#otherKeys];
    const held = await heldKeys(documents, sources, options);
    options.onKeys?.(held);
    const feed = await writer.openFeed(documents.feedPath);
    try {
      return await this.#withIndex(
        [feed, writer, loaded],
        (known) =>
          updateProofs({
            ...{ documents, feed, held, known, next, rules, writer },
            store: this.#options.store,
            now: this.#options.now(),
          }, options),
      );
    } finally {
      // A rotation opens it twice.
      feed.close();
    }
  }

  /**
   * Works with an index that stands at the recovered end of the feed; starts over
   * with an empty one when it proves unusable.
   */
  async #withIndex<T>(
    [feed, { index }, { rules }]: readonly [OpenFeed, FeedWriter, Loaded],
    work: (index: FeedIndex) => T | Promise<T>,
  ): Promise<T> {
    for (let attempt = 1;; attempt++) {
      try {
        await recoverFeed(feed, index, rules, this.#options);
        return await work(index);
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
  throw new SigError(
    "plan_outdated",
    `Cannot append: the feed ends at sequence ${sequence}, not ${expected} as when this was planned`,
    {
      context: {
        sequence,
        expected,
        hint: "Somebody else has appended. Make the plan again.",
      },
    },
  );
}
