/**
 * Creates issuers, appends signed events to their feeds without ever leaving a
 * broken one, and rotates their keys.
 *
 * @example From nothing to a signed event
 * ```ts
 * import {
 *   createFileKeyStore,
 *   createFileStore,
 *   initIssuer,
 *   openIssuer,
 * } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const keys = createFileKeyStore(`${dir}/keys`);
 * const store = createFileStore(`${dir}/acme.example`);
 * await initIssuer({ store, keys, did: "did:web:acme.example" });
 *
 * const issuer = await openIssuer({ store, keys, now: () => new Date() });
 * const { sequence } = await issuer.append({
 *   event_type: "relationship.upsert",
 *   subject: "did:web:alice.example",
 *   relationship_type: "employee",
 * });
 * assertEquals(sequence, 1);
 * await issuer.close();
 * await Deno.remove(dir, { recursive: true });
 * ```
 *
 * @module
 */
export type { AppendedEvent, AppendOptions } from "./append/append_batch.ts";
export type {
  CurrentQuestion,
  CurrentRelationship,
  CurrentRelationships,
} from "./append/current.ts";
export type {
  DraftBase,
  EventDraft,
  RevokeDraft,
  UpsertDraft,
} from "./append/draft.ts";
export type { OpenIssuerOptions } from "./append/feed_session.ts";
export type { RecoveryNotice } from "./append/recover_feed.ts";
export type { RestoredFeed } from "./append/restore.ts";
export {
  type BackupKeys,
  type IssuerBackup,
  restoreBackup,
  type RestoreBackupOptions,
  type RestoredBackup,
  type VerifiedBackup,
  verifyBackup,
} from "./backup.ts";
export type { FaultHooks } from "./disk/durable_file.ts";
export type { RotateKeyOptions } from "./documents/add_signing_key.ts";
export {
  buildDidDocument,
  buildJwks,
  buildMetadata,
  type BuildMetadataOptions,
} from "./documents/build_documents.ts";
export type {
  Keys,
  KeySource,
  PublishedDocuments,
} from "./documents/signing_key.ts";
export { enrolmentDraft } from "./enrolment.ts";
export { type EventIndex, FeedIndex } from "./index/feed_index.ts";
export type {
  FeedHead,
  IndexedEvent,
  IndexedRelationship,
  LinePlace,
} from "./index/index_file.ts";
export {
  type InitializedIssuer,
  initIssuer,
  type InitIssuerOptions,
} from "./init_issuer.ts";
export {
  createFileKeyStore,
  type FileKeyStoreOptions,
} from "./keys/file_key_store.ts";
export {
  createMemoryKeyStore,
  type KeptKey,
  type KeyName,
  type KeyStore,
  type ReferencedKey,
  type StoredKey,
} from "./keys/key_store.ts";
export { type Issuer, type IssuerIdentity, openIssuer } from "./open_issuer.ts";
export type { NamedDraft, SignedEvent } from "./recovery/corrective_drafts.ts";
export type {
  RecoveryPlan,
  RecoveryRequest,
  RemainingKey,
} from "./recovery/plan_recovery.ts";
export { type GuardOptions, requireGuards } from "./plan/guards.ts";
export type {
  DesiredRelationship,
  PlannedField,
  PlannedMembers,
} from "./plan/members.ts";
export {
  type ExpiredRelationship,
  type Plan,
  planChanges,
  type PlanOptions,
  type UnlistedPerson,
} from "./plan/plan_changes.ts";
export type { PlannedChange } from "./plan/planned_change.ts";
export { type RowIssue } from "./plan/plan_faults.ts";
export type { WaitingRow } from "./plan/list_rows.ts";
export type { Gap } from "./plan/person_index.ts";
export { planDrafts } from "./plan/plan_drafts.ts";
export type {
  EndedRelationship,
  Ending,
  PublishedHistory,
  PublishedRelationship,
  PublishedState,
} from "./plan/published.ts";
export type { CheckpointOptions } from "./proofs/publish_proofs.ts";
export type { RecoveredIssuer } from "./recovery/recover_issuer.ts";
export type { RotatedKey } from "./rotate_key.ts";
export type {
  ExclusiveOptions,
  FeedStore,
  FeedWriter,
  OpenFeed,
} from "./store/feed_store.ts";
export { createFileStore, type FileStoreOptions } from "./store/file_store.ts";
export { createMemoryStore, type MemoryStore } from "./store/memory_store.ts";
