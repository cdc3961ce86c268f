/** An open issuer: appends events, publishes proofs, rotates keys. @module */

import { encodeHex } from "@std/encoding/hex";
import {
  DEFAULT_LIMITS,
  type FeedState,
  formatInstant,
  instantOf,
  isSigError,
  type Limits,
  SigError,
  type Warning,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { KeyResolver, SigningKey } from "@sig/jose/keys";
import type { Checkpoint } from "@sig/jose/proofs";
import { signStatement } from "@sig/jose/recovery";
import {
  appendDrafts,
  type AppendedEvent,
  type AppendOptions,
} from "./append/append_batch.ts";
import { type BackupKeys, type IssuerBackup, readBackup } from "./backup.ts";
import { recoverFeed, type RecoveryNotice } from "./append/recover_feed.ts";
import { type EventIndex, IndexError } from "./index/feed_index.ts";
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
  type NextKey,
  updateProofs,
  type UpdateProofsOptions,
} from "./proofs/update_proofs.ts";
import { isReferenced } from "./keys/key_store.ts";
import { addSigningKey, type RotateKeyOptions } from "./rotate_key.ts";
import {
  keysAfter,
  nameDrafts,
  planRecovery,
  type RecoveryPlan,
  type RecoveryRequest,
  requireSameEnds,
  requireSameKey,
} from "./recovery/plan_recovery.ts";
import { firstCommitment, writeRecovery } from "./recovery/write_recovery.ts";
import {
  chooseSigningKey,
  heldKeys,
  isAuthorized,
  isKeptElsewhere,
  isSigningKey,
  type KeySource,
  kidsNewestFirst,
  resolveKeys,
} from "./documents/signing_key.ts";

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

/** The result of {@linkcode Issuer.rotateKey}. */
export interface RotatedKey {
  /** Identifier of the new key, which signs from now on. */
  readonly kid: string;
  /** `proofs_behind` if the proofs could not be signed again. */
  readonly warnings: readonly Warning[];
}

/** The result of {@linkcode Issuer.recover}. */
export interface RecoveredIssuer {
  /** Identifier of the new key, which signs from now on. */
  readonly kid: string;
  /** Number of the statement. */
  readonly statement: number;
  /** The corrective events. */
  readonly events: readonly AppendedEvent[];
}

/** The result of {@linkcode Issuer.identity}. */
export interface IssuerIdentity {
  /** The issuer's DID. */
  readonly did: string;
  /** The key that currently signs events. */
  readonly signingKey: SigningKey;
  /** The published keys, as a reader of the documents resolves them. */
  readonly keys: KeyResolver;
  /** The newest published key that may sign events. */
  readonly newestKid: string;
}

/**
 * Opens an issuer that {@linkcode initIssuer} or another SIG implementation has
 * made. Reads its documents immediately, and again whenever they have changed.
 *
 * Every append first recovers the feed's end: a crash at any point leaves at
 * worst an unfinished line, which is saved and cut off, never a wrong event
 * (docs/protocol.md §11). The cost of an append does not depend on the feed's
 * length.
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
 * Events that the index file may be behind: writing it for each would double
 * the cost of an append. After a crash, this many are verified again.
 */
const MAX_PENDING = 256;

/** A key in an agent may take 30 s for one signature. */
export const AGENT_LOCK_TIMEOUT_MS = 40_000;

/** Attempts, each after resetting the index; the last one in memory. */
const MAX_ATTEMPTS = 4;

/** Work on a recovered feed, with an index whose head is the feed's end. */
type FeedWork<T> = (
  feed: OpenFeed,
  index: EventIndex,
  documents: IssuerDocuments,
) => T | Promise<T>;

/** An open issuer. Concurrent calls are queued and run in order. */
export class Issuer implements AsyncDisposable {
  readonly #options: OpenIssuerOptions;
  readonly #limits: Limits;
  #timeoutMs: number;
  #keys: KeySource;
  readonly #otherKeys: KeySource[];
  #kid: string | undefined;
  #documents: IssuerDocuments | undefined;
  /** Revision of the documents; undefined forces reading them again. */
  #revision: string | undefined;
  /** The signing key, chosen on first use. */
  #key: SigningKey | undefined;
  /** Whether events are missing in the index file. */
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

  /** Implements {@linkcode openIssuer}. */
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
   * Appends one event. It is durable when the promise resolves; if the promise
   * rejects, nothing was written.
   *
   * If the feed already has the draft's `event_id` and every given member is
   * equal, nothing is written: the sequence of that event is returned, and
   * `repeated` is true.
   *
   * Rejects with a `SigError`: the code of a wrong field (`missing_field`,
   * `invalid_field`, `unknown_event_type`, `private_event_in_public_feed`; also
   * `invalid_field` for a draft for which a reader would only warn, unless
   * `allowWarnings`), `duplicate_event_id`, `unknown_relationship`,
   * `already_revoked` (unless `amend`), `line_too_long`, `feed_too_large`,
   * `too_many_events`, `signing_key_not_found`, `key_not_authorized`,
   * `invalid_key`, `feed_locked`, `write_failed`, `store_unavailable`,
   * `source_not_found`, `invalid_metadata`, `invalid_did_document`,
   * `feed_rolled_back` and `feed_rewritten` (the feed lacks events that the
   * index knows; unless `acceptRollback`), and the fault of a complete but
   * wrong feed line.
   */
  async append(draft: EventDraft): Promise<AppendedEvent> {
    const [appended] = await this.appendAll([draft]);
    return appended!;
  }

  /**
   * Appends several events, all or none, with one lock, one write and one
   * flush. A draft may build on earlier drafts. If it rejects, `context.draft`
   * is the index of the faulty draft. Only a crash during the write can leave
   * the first events without the rest: if every draft has an `event_id`,
   * repeating the call completes them.
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
          key,
          allowWarnings,
          now: now(),
          ids: this.#ids,
          maxFaults,
          onProgress,
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
   * old keys, and signs with the new key from now on. If the issuer publishes
   * proofs, a checkpoint that older keys have signed introduces the key first.
   * Repeating the call completes an interrupted rotation.
   *
   * Rejects with a `SigError`: `kid_exists`, `invalid_identifier`,
   * `invalid_key`, `document_too_large`, `signing_key_not_found` if no older
   * key can introduce the key (unless `unintroduced`), and those of the store.
   */
  async rotateKey(options: RotateKeyOptions): Promise<RotatedKey> {
    return await this.#takeTurn(async (writer) => {
      const documents = await this.#readDocuments();
      const keys = await resolveKeys(this.#keys, documents);
      // A published key is refused, or only its private part is added.
      const isIntroduced = documents.metadata.proofs_uri !== undefined &&
        !isAuthorized(documents, options.kid) &&
        await this.#canIntroduce(documents, options);
      let warnings: readonly Warning[] = [];
      const key = await addSigningKey(writer, options, {
        documents,
        keys,
        beforePublishing: async (key, published) => {
          if (!isIntroduced) return;
          warnings = await this.#introduce(writer, { key, published }, options);
        },
        onStep: this.#options.faults?.onStep,
      });
      this.#documents = undefined;
      this.#kid = key.kid;
      if (isSigningKey(keys)) {
        this.#keys = key;
        this.#otherKeys.push(keys);
      }
      if (!isIntroduced) {
        warnings = await this.#tryProofs(writer, {
          dropAll: options.unintroduced,
        });
      }
      return { kid: key.kid, warnings };
    });
  }

  /**
   * Brings the proofs up to the feed's end and signs their checkpoint with
   * every available key; also renews its time (docs/protocol.md §13.6). All
   * files are complete before the checkpoint that needs them is published.
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
   * Runs {@linkcode Issuer.checkpoint} after appends, if the issuer publishes
   * proofs. Does not reject with a `SigError`: the appended events remain in
   * effect, and readers continue from the last checkpoint.
   *
   * @returns the warning `proofs_behind` if it failed.
   */
  async refreshProofs(): Promise<readonly Warning[]> {
    // Another writer can hold the lock for longer than this one waits.
    return await this.#takeTurn((writer) => this.#tryProofs(writer))
      .catch(proofsBehind);
  }

  /**
   * Returns the issuer's DID and keys, for signing and verifying things other
   * than events, such as invitations. Reads the documents again if they have
   * changed.
   *
   * Rejects with a `SigError`: `signing_key_not_found`, `key_not_authorized`,
   * `invalid_key`, and those of the documents.
   */
  async identity(): Promise<IssuerIdentity> {
    return await this.#takeTurn(async () => {
      const documents = await this.#readDocuments();
      const { issuer: did, keys } = documents;
      const signingKey = await this.#signingKey(documents);
      const [newestKid = signingKey.kid] = kidsNewestFirst(documents);
      return { did, keys, signingKey, newestKid };
    });
  }

  /**
   * Verifies every line of the feed and returns the derived state. Rejects with
   * the `SigError` of the first fault.
   */
  async state(): Promise<FeedState> {
    const { documents, feed } = await this.#readFeed();
    return await replayFeed(feed, documents);
  }

  /**
   * Returns every relationship with its display and metadata, as `planChanges`
   * needs it. Verifies the feed and rejects as {@linkcode Issuer.state}.
   */
  async published(): Promise<PublishedState> {
    const { documents, feed } = await this.#readFeed();
    const relationships = new PublishedRelationships();
    const { issuer, last_sequence } = await replayFeed(
      feed,
      documents,
      {
        onEvent: (event, isVoid) => {
          if (!isVoid) relationships.add(event);
        },
        keepOnly: null,
      },
    );
    const digest = await crypto.subtle.digest("SHA-256", feed);
    const feed_sha256 = encodeHex(new Uint8Array(digest));
    return relationships.state({ issuer, last_sequence, feed_sha256 });
  }

  /**
   * Returns the current state of one relationship, or of a subject's active
   * relationships. The cost does not depend on the number of events.
   */
  async current(question: CurrentQuestion): Promise<CurrentRelationships> {
    return await this.#onFeed((feed, index, { parseLine }) =>
      readCurrent(question, feed, index, parseLine)
    );
  }

  /**
   * Rejects with `feed_rolled_back` if this feed ends before a published copy
   * of it, and with `feed_rewritten` if the two differ. The copy is not
   * verified.
   */
  async requireNotBehind(published: Uint8Array): Promise<void> {
    await this.#takeTurn(async (writer) => {
      const { feedPath } = await this.#readDocuments();
      await requireNotBehind(await writer.openFeed(feedPath), published);
    });
  }

  /**
   * Restores the lost end of a feed, such as that of an old backup, from the
   * published copy, durably. First verifies every published line with the keys
   * of this issuer.
   *
   * Rejects with a `SigError`: `feed_rewritten` if the published feed does not
   * continue this one byte for byte, `incomplete_line`, the fault of a
   * published line, and those of the store; then nothing was written.
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
   * Returns the parts of a backup: documents, names, the feed up to its
   * recovered end, and private keys. The index and the proofs are omitted,
   * since they can be rebuilt.
   *
   * Rejects with a `SigError`: `signing_key_not_found` if no source has the
   * newest key, those of the documents, and those of an append that concern the
   * feed.
   */
  async backup(keys: BackupKeys): Promise<IssuerBackup> {
    const { store } = this.#options;
    return await this.#onFeed((_, { head }, documents) =>
      readBackup(store, documents, head!.bytes, keys)
    );
  }

  /**
   * Publishes the commitment to a recovery key, which is kept elsewhere: proofs
   * if there are none, the checkpoint with its line, then `sig.json`.
   *
   * Rejects with a `SigError`: `issuer_exists` if there is one, `invalid_key`
   * for a signing key, and as {@linkcode Issuer.checkpoint}.
   *
   * @param x The public recovery key, base64url.
   */
  async createRecovery(x: string): Promise<void> {
    await this.#takeTurn(async (writer) => {
      const documents = await this.#readDocuments();
      const recovery = await firstCommitment(documents, x);
      await this.#updateProofs(writer, { init: true, recovery });
      this.#documents = undefined;
      const { member } = recovery;
      await writeRecovery(writer, await this.#readDocuments(), member);
      this.#documents = undefined;
    });
  }

  /** Requires that {@linkcode Issuer.createRecovery} may be called. */
  async requireNoRecovery(): Promise<void> {
    await firstCommitment(await this.#readDocuments(), "");
  }

  /**
   * Returns what {@linkcode Issuer.recover} would publish, and writes nothing.
   * Rejects as it does.
   */
  async planRecovery(request: RecoveryRequest): Promise<RecoveryPlan> {
    return await this.#onFeed(async (feed, { head }, documents) =>
      await this.#planRecovery(documents, feed, head!.bytes, request)
    );
  }

  /**
   * Ends stolen and lost keys with a statement of the recovery key, and brings
   * readers of v0.1 to the same state by corrective events. Writes the new
   * signing key, the statement, the documents, the events and the checkpoint,
   * in this order; the same call completes an interrupted one.
   *
   * Rejects with a `SigError`: `invalid_request` and `invalid_key` before
   * anything was written, and as {@linkcode Issuer.rotateKey},
   * {@linkcode Issuer.append} and {@linkcode Issuer.checkpoint}.
   */
  async recover(request: RecoveryRequest): Promise<RecoveredIssuer> {
    return await this.#takeTurn(async (writer) => {
      const documents = await this.#readDocuments();
      const { member } = documents.recovery ?? {};
      const plan = await this.#withFeed(
        writer,
        documents,
        async (feed, { head }) =>
          await this.#planRecovery(documents, feed, head!.bytes, request),
      );
      requireSameEnds(plan, request);
      const { kid } = plan;
      let statement = plan.isPublished ? member!.statements.at(-1)! : "";
      const publish = async ({ publicJwk: { x } }: SigningKey) => {
        if (plan.isPublished) return requireSameKey(plan, x);
        const keys = keysAfter(documents, plan.claims.ended, { kid, x });
        const claims = { ...plan.claims, keys };
        statement = await signStatement(claims, request.recoveryKey);
        const statements = [...member!.statements, statement];
        await writeRecovery(writer, documents, { ...member!, statements });
      };
      const keys = await resolveKeys(this.#keys, documents);
      const isAdded = plan.isPublished && isAuthorized(documents, kid);
      if (!isAdded) {
        await addSigningKey(writer, { kid }, {
          documents,
          keys,
          beforePublishing: publish,
          onStep: this.#options.faults?.onStep,
        });
      }
      this.#documents = undefined;
      this.#kid = kid;
      const events = await this.#correct(writer, plan, statement);
      await this.#updateProofs(writer, { init: true, rebuild: true });
      return { kid, statement: plan.claims.n, events };
    });
  }

  async #planRecovery(
    documents: IssuerDocuments,
    feed: OpenFeed,
    bytes: number,
    request: RecoveryRequest,
  ): Promise<RecoveryPlan> {
    const held = await heldKeys(documents, this.#sources, {
      skipMissing: true,
    });
    return await planRecovery(documents, await feed.read(0, bytes), request, {
      now: this.#options.now(),
      held: held.map(({ kid }) => kid),
    });
  }

  /** Appends the corrective events of a recovery. */
  async #correct(
    writer: FeedWriter,
    plan: RecoveryPlan,
    statement: string,
  ): Promise<readonly AppendedEvent[]> {
    const now = this.#options.now();
    const documents = await this.#readDocuments();
    const key = await this.#signingKey(documents);
    const drafts = nameDrafts(
      plan.drafts,
      statement,
      formatInstant(instantOf(now)),
    );
    return await this.#withFeed(writer, documents, async (feed, index) => {
      const appended = await appendDrafts(drafts, feed, index, {
        ...documents,
        key,
        allowWarnings: true,
        now,
        ids: this.#ids,
      });
      flushIndex(index, 1);
      return appended;
    });
  }

  /** Waits for running operations, then closes the store. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#turn;
    await this.#leaveIndex();
    await this.#options.store.close();
  }

  /** Calls {@linkcode Issuer.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Reads the feed up to its recovered end. */
  async #readFeed() {
    const { documents, bytes } = await this.#onFeed(
      (_, { head }, documents) => ({ documents, bytes: head!.bytes }),
    );
    // Read outside the lock: the feed's recovered bytes never change.
    const feed = await this.#options.store
      .read(documents.feedPath, Number.MAX_SAFE_INTEGER);
    return { documents, feed: (feed ?? new Uint8Array()).slice(0, bytes) };
  }

  /** Returns the documents, read again only if they have changed. */
  async #readDocuments(): Promise<IssuerDocuments> {
    const { store } = this.#options;
    const before = this.#documents;
    const jwksPath = before?.jwksPath ?? WELL_KNOWN_PATHS.jwks;
    // Taken before reading, so that a concurrent change is seen next time.
    const revision = await documentsRevision(store, jwksPath);
    if (before !== undefined && revision === this.#revision) return before;
    const documents = await readDocuments(store, this.#limits);
    this.#documents = documents;
    this.#revision = documents.jwksPath === jwksPath ? revision : undefined;
    this.#key = undefined;
    return documents;
  }

  /** Writes pending events to the index, unless another writer is busy. */
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

  /** Queues the work in this process, and holds the lock meanwhile. */
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

  /** Returns whether a key other than the new one can sign the checkpoint. */
  async #canIntroduce(
    documents: IssuerDocuments,
    { kid, unintroduced }: RotateKeyOptions,
  ): Promise<boolean> {
    const held = await heldKeys(documents, this.#sources, {
      skipMissing: unintroduced,
    });
    if (held.some((key) => key.kid !== kid)) return true;
    if (unintroduced) return false;
    throw new SigError("signing_key_not_found", {
      action: `introduce key ${quote(kid)}`,
      reason:
        "the private part of none of the issuer's older keys is available",
      context: {
        kid,
        hint:
          "Nothing was changed. Make an older key available (key store, ssh-agent, SIG_KEY_FILE). If all are lost: --unintroduced; readers that remember a proof then refuse this issuer (key_not_introduced) until sig pin ack there.",
      },
    });
  }

  /**
   * Publishes a checkpoint that names a new key, signed by it and the older
   * ones, before the key itself: otherwise readers would refuse the key.
   */
  async #introduce(
    writer: FeedWriter,
    next: NextKey,
    { unintroduced }: RotateKeyOptions,
  ): Promise<readonly Warning[]> {
    const options = { dropAll: unintroduced, skipMissing: unintroduced };
    try {
      await this.#updateProofs(writer, options, next);
      return [];
    } catch (error) {
      // A stolen key must be replaced even if the proofs can't be updated.
      if (!isSigError(error, "subject_changed")) throw error;
      await this.#updateProofs(writer, { ...options, stay: true }, next);
      return proofsBehind(error);
    }
  }

  get #sources(): readonly KeySource[] {
    return [this.#keys, ...this.#otherKeys];
  }

  async #tryProofs(
    writer: FeedWriter,
    options: UpdateProofsOptions = {},
  ): Promise<readonly Warning[]> {
    try {
      const documents = await this.#readDocuments();
      if (documents.metadata.proofs_uri === undefined) return [];
      if (await this.#newestIsElsewhere(documents)) {
        const detail =
          "the newest key is in an agent; sig checkpoint brings the proofs up to the feed's end";
        return [{ code: "proofs_behind", detail }];
      }
      await this.#updateProofs(writer, { ...options, withoutReferences: true });
      return [];
    } catch (error) {
      return proofsBehind(error);
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
    next?: NextKey,
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
          documents,
          feed,
          held,
          known,
          next,
          store,
          writer,
          now: now(),
        }, options),
    );
  }

  /** Runs {@linkcode #withFeed} in its own turn. */
  async #onFeed<T>(work: FeedWork<T>): Promise<T> {
    return await this.#takeTurn(async (writer) =>
      await this.#withFeed(writer, await this.#readDocuments(), work)
    );
  }

  /**
   * Runs work with an index at the recovered end of the feed. Retries with an
   * empty index if the index proves unusable.
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
}

/** The events are already durable: proofs that fail are only behind. */
function proofsBehind(error: unknown): readonly Warning[] {
  if (!isSigError(error)) throw error;
  const detail = `the proofs were not updated: ${error.message}`;
  return [{ code: "proofs_behind", detail }];
}

/** The events are already durable: an index that fails is only behind. */
function flushIndex(index: EventIndex, most: number): void {
  if (index.pending < most) return;
  try {
    index.flush();
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
  }
}

/** Drafts planned for another end of the feed must not be appended. */
function requireEnd(sequence: number, expected: number | undefined): void {
  if (expected === undefined || sequence === expected) return;
  const why =
    `the feed ends at sequence ${sequence}, not ${expected} as when this was planned`;
  throw refused("plan_outdated", why, {
    sequence,
    expected,
    hint: "Somebody else has appended. Make the plan again.",
  });
}
