/** An open issuer: appends events, publishes proofs, rotates keys. @module */

import type { FeedState, Warning } from "@sig/core";
import type { KeyResolver, SigningKey } from "@sig/jose/keys";
import type { Checkpoint } from "@sig/jose/proofs";
import {
  type AppendedEvent,
  appendInTurn,
  type AppendOptions,
} from "./append/append_batch.ts";
import {
  type CurrentQuestion,
  type CurrentRelationships,
  readCurrent,
} from "./append/current.ts";
import type { EventDraft } from "./append/draft.ts";
import { FeedSession, type OpenIssuerOptions } from "./append/feed_session.ts";
import {
  requireNotBehind,
  type RestoredFeed,
  restoreFeed,
} from "./append/restore.ts";
import { replayFeed } from "./append/verify_feed.ts";
import { type BackupKeys, type IssuerBackup, readBackup } from "./backup.ts";
import type { RotateKeyOptions } from "./documents/add_signing_key.ts";
import { kidsNewestFirst } from "./documents/signing_key.ts";
import { type PublishedState, readPublished } from "./plan/published.ts";
import {
  type CheckpointOptions,
  proofsBehind,
  publishProofs,
  publishProofsIfAny,
} from "./proofs/publish_proofs.ts";
import type {
  RecoveryPlan,
  RecoveryRequest,
} from "./recovery/plan_recovery.ts";
import {
  createRecovery,
  firstCommitment,
  planOnFeed,
  recover,
  type RecoveredIssuer,
} from "./recovery/recover_issuer.ts";
import { type RotatedKey, rotateKey } from "./rotate_key.ts";

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

/** An open issuer. Concurrent calls are queued and run in order. */
export class Issuer implements AsyncDisposable {
  readonly #session: FeedSession;

  private constructor(session: FeedSession) {
    this.#session = session;
  }

  /** Implements {@linkcode openIssuer}. */
  static async open(options: OpenIssuerOptions): Promise<Issuer> {
    return new Issuer(await FeedSession.open(options));
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
    options: AppendOptions = {},
  ): Promise<readonly AppendedEvent[]> {
    if (drafts.length === 0) return [];
    return await this.#session.takeTurn((writer, documents) =>
      appendInTurn(this.#session, writer, documents, drafts, options)
    );
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
    return await rotateKey(this.#session, options);
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
    return await this.#session.takeTurn((writer) =>
      publishProofs(this.#session, writer, options)
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
    const session = this.#session;
    return await session
      .takeTurn((writer) => publishProofsIfAny(session, writer))
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
    return await this.#session.takeTurn(async (_, documents) => {
      const { issuer: did, keys } = documents;
      const signingKey = await this.#session.signingKey(documents);
      const [newestKid = signingKey.kid] = kidsNewestFirst(documents);
      return { did, keys, signingKey, newestKid };
    });
  }

  /**
   * Verifies every line of the feed and returns the derived state. Rejects with
   * the `SigError` of the first fault.
   */
  async state(): Promise<FeedState> {
    const { documents, feed } = await this.#session.readFeed();
    return await replayFeed(feed, documents);
  }

  /**
   * Returns every relationship with its display and metadata, as `planChanges`
   * needs it. Verifies the feed and rejects as {@linkcode Issuer.state}.
   */
  async published(): Promise<PublishedState> {
    return await readPublished(this.#session);
  }

  /**
   * Returns the current state of one relationship, or of a subject's active
   * relationships. The cost does not depend on the number of events.
   */
  async current(question: CurrentQuestion): Promise<CurrentRelationships> {
    return await this.#session.onFeed((feed, index, documents) =>
      readCurrent(question, feed, index, documents)
    );
  }

  /**
   * Rejects with `feed_rolled_back` if this feed ends before a published copy
   * of it, and with `feed_rewritten` if the two differ. The copy is not
   * verified.
   */
  async requireNotBehind(published: Uint8Array): Promise<void> {
    await this.#session.takeTurn(async (writer, { feedPath }) =>
      await requireNotBehind(await writer.openFeed(feedPath), published)
    );
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
    const { now } = this.#session.options;
    return await this.#session.takeTurn(async (writer, documents) => {
      const feed = await writer.openFeed(documents.feedPath);
      return await restoreFeed(feed, published, documents, now());
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
    const { store } = this.#session.options;
    return await this.#session.onFeed((_, { head }, documents) =>
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
    await createRecovery(this.#session, x);
  }

  /** Requires that {@linkcode Issuer.createRecovery} may be called. */
  async requireNoRecovery(): Promise<void> {
    await firstCommitment(await this.#session.readDocuments(), "");
  }

  /**
   * Returns what {@linkcode Issuer.recover} would publish, and writes nothing.
   * Rejects as it does.
   */
  async planRecovery(request: RecoveryRequest): Promise<RecoveryPlan> {
    return await this.#session.onFeed(planOnFeed(this.#session, request));
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
    return await recover(this.#session, request);
  }

  /** Waits for running operations, then closes the store. */
  async close(): Promise<void> {
    await this.#session.close();
  }

  /** Calls {@linkcode Issuer.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
