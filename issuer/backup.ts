/**
 * All of an issuer that can't be made again: read for a backup, verified, and
 * put back.
 *
 * @module
 */

import {
  DEFAULT_LIMITS,
  type ErrorCode,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { quote, sameBytes } from "@sig/core/internal";
import { appendRest, compareFeeds, countLines } from "./append/restore.ts";
import { replayFeed } from "./append/verify_feed.ts";
import type { FaultHooks } from "./disk/durable_file.ts";
import { type IssuerDocuments, readDocuments } from "./documents/documents.ts";
import { authorizedKeys } from "./documents/signing_key.ts";
import {
  isOwnKid,
  type KeyName,
  type KeyStore,
  type StoredKey,
  toSigningKey,
} from "./keys/key_store.ts";
import {
  DEFAULT_LOCK_TIMEOUT_MS,
  type FeedStore,
  type FeedWriter,
} from "./store/feed_store.ts";
import { createMemoryStore } from "./store/memory_store.ts";

/** What a backup holds. */
export interface IssuerBackup {
  /**
   * Documents, feed, and files that are not published: `/.sig/names.csv`, and of
   * a login server `/.sig/oidc-keys.json` and `/.sig/oidc-clients.json`. By path
   * below the issuer's root.
   */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Private keys by kid. */
  readonly keys: ReadonlyMap<string, StoredKey>;
}

/** What a verified backup is about. */
export interface VerifiedBackup {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the feed's last event. */
  readonly last_sequence: number;
  /** The published kids, the newest last. */
  readonly kids: readonly string[];
  /** Whether the issuer publishes proofs, which are made again from the feed. */
  readonly has_proofs: boolean;
}

/** What {@linkcode restoreBackup} did. */
export interface RestoredBackup extends VerifiedBackup {
  /** Events that the feed did not have before. */
  readonly restored: number;
}

/** What {@linkcode restoreBackup} needs besides the backup. */
export interface RestoreBackupOptions {
  /** Where the issuer's files will be. */
  readonly store: FeedStore;
  /** Where its private keys will be kept. */
  readonly keys: KeyStore;
  /** The clock, for the name of an unfinished line that is kept aside. */
  readonly now: () => Date;
  /** For tests only. */
  readonly faults?: FaultHooks;
}

const NAMES_PATH = "/.sig/names.csv";

/** What is not published, and may be in a backup. */
const PRIVATE_PATHS: readonly string[] = [
  ...[NAMES_PATH, "/.sig/oidc-keys.json", "/.sig/oidc-clients.json"],
];

/** Where the private keys of a backup are. */
export interface BackupKeys {
  /** The key store. */
  readonly keys: KeyStore;
  /** A key that is kept in another place, with its public part. */
  readonly own?: { readonly x: unknown; readonly key: StoredKey } | undefined;
}

/**
 * Reads what a backup holds, under the lock.
 *
 * @param feedBytes bytes of the feed that are whole lines.
 * @throws {SigError} `signing_key_not_found` if the newest key is not there,
 * and those of the stores.
 */
export async function readBackup(
  store: FeedStore,
  documents: IssuerDocuments,
  feedBytes: number,
  { keys, own }: BackupKeys,
): Promise<IssuerBackup> {
  const { feedPath, host } = documents;
  const files = new Map<string, Uint8Array>();
  for (const path of [NAMES_PATH, ...publishedPaths(documents)]) {
    const bytes = await store.read(path, Number.MAX_SAFE_INTEGER);
    if (bytes === undefined) continue;
    files.set(path, path === feedPath ? bytes.slice(0, feedBytes) : bytes);
  }
  const held = new Map<string, StoredKey>();
  for (const [kid, { jwk }] of documents.keys.keys) {
    const key = own?.x === jwk.x ? own.key : await readKey(keys, { host, kid });
    if (key !== undefined) held.set(kid, key);
  }
  const newest = [...authorizedKeys(documents).keys()].at(-1) ?? "";
  if (held.has(newest) && !isOwnKid(newest)) {
    throw refused(
      "invalid_identifier",
      `no key store could keep a key of the kid ${quote(newest)}`,
      "Rotate to a key with another kid first (sig rotate-key).",
      "back up the issuer",
    );
  }
  if (held.has(newest)) return { files, keys: held };
  throw refused(
    "signing_key_not_found",
    `the private key ${quote(newest)} is not in the key store`,
    "SIG_KEYS_DIR names the folder of the keys, SIG_KEY_FILE another key.",
    "back up the issuer",
  );
}

async function readKey(
  keys: KeyStore,
  name: KeyName,
): Promise<StoredKey | undefined> {
  if (!isOwnKid(name.kid)) return undefined;
  const reference = await keys.reference?.(name);
  if (reference !== undefined) return { reference };
  const key = await keys.read(name);
  return key !== undefined && "sign" in key ? undefined : key;
}

/** Where the documents and the feed are; readers need the last one first. */
function publishedPaths(
  { feedPath, jwksPath }: IssuerDocuments,
): readonly string[] {
  const { did_document, metadata } = WELL_KNOWN_PATHS;
  return [feedPath, jwksPath, did_document, metadata];
}

/**
 * Verifies all of a backup: the documents, every line of the feed, and that each
 * private key is the one that is published.
 *
 * @throws {SigError} `invalid_request` for a file that does not belong in a backup,
 * `invalid_key`, `incomplete_line`, the first fault of a line, and those of
 * {@linkcode openIssuer}.
 */
export async function verifyBackup(
  backup: IssuerBackup,
): Promise<VerifiedBackup> {
  return (await verify(backup)).verified;
}

async function verify({ files, keys }: IssuerBackup) {
  const store = createMemoryStore();
  for (const [path, bytes] of files) store.files.set(path, bytes);
  const documents = await readDocuments(store, DEFAULT_LIMITS);
  const known = new Set([...PRIVATE_PATHS, ...publishedPaths(documents)]);
  const strange = [...files.keys()].find((path) => !known.has(path));
  if (strange !== undefined) {
    throw refused("invalid_request", `${quote(strange)} is not a file of it`);
  }
  const feed = files.get(documents.feedPath);
  if (feed === undefined || feed.length > 0 && feed.at(-1) !== 0x0a) {
    throw refused("incomplete_line", "its feed has no end");
  }
  const state = await replayFeed(feed, documents, { keepOnly: null });
  for (const [kid, key] of keys) {
    const published = documents.keys.keys.get(kid)?.jwk.x;
    const x = "reference" in key
      ? published
      : (await toSigningKey(key, kid)).publicJwk.x;
    if (isOwnKid(kid) && x !== undefined && x === published) continue;
    throw refused("invalid_key", `${quote(kid)} is not a key of this issuer`);
  }
  const verified: VerifiedBackup = {
    issuer: documents.issuer,
    last_sequence: state.last_sequence,
    kids: [...documents.keys.keys.keys()],
    has_proofs: documents.metadata.proofs_uri !== undefined,
  };
  return { verified, documents, feed };
}

/**
 * Puts a backup in place, after all of it was verified: keys, names, feed, key
 * set and DID document, and at last `sig.json`, each of them durable before the
 * next. What is there already is kept, and must be the same; a feed may be the
 * beginning of the backup's. So a call that was broken off is completed by the
 * same call.
 *
 * @throws {SigError} `kid_exists`, `issuer_exists`, `feed_rolled_back` where
 * something else is there, which may be newer; `feed_rewritten`; those of
 * {@linkcode verifyBackup} and of the stores. Nothing was written then, except
 * for `write_failed`.
 */
export async function restoreBackup(
  backup: IssuerBackup,
  { faults, keys, now, store }: RestoreBackupOptions,
): Promise<RestoredBackup> {
  const { documents, feed, verified } = await verify(backup);
  const missing: (readonly [KeyName, StoredKey])[] = [];
  for (const [kid, key] of backup.keys) {
    const name = { host: documents.host, kid };
    if (!await keys.has(name)) missing.push([name, key]);
    else if (!isSameKey(key, await readKey(keys, name))) {
      throw refused(
        "kid_exists",
        `the key store has another key ${quote(kid)} of ${quote(name.host)}`,
        "Nothing was written. SIG_KEYS_DIR names another folder for keys.",
      );
    }
  }
  const { feedPath } = documents;
  return await store.exclusively(
    { timeoutMs: DEFAULT_LOCK_TIMEOUT_MS, create: true },
    async (writer) => {
      await requireIssuer(store, verified.issuer);
      const paths = [...PRIVATE_PATHS, ...publishedPaths(documents)];
      const files = await missingFiles(backup, paths, store, feedPath);
      const held = await findHeld(writer, feed, feedPath, files);
      for (const [name, key] of missing) {
        await keys.write(name, key);
        faults?.onStep?.("key-stored");
      }
      for (const path of paths) {
        const bytes = files.get(path);
        if (path === feedPath && held !== undefined) {
          await appendRest(held.feed, feed, held.whole, now());
        } else if (bytes !== undefined) await writer.create(path, bytes);
      }
      const restored = verified.last_sequence - (held?.lines ?? 0);
      return { ...verified, restored };
    },
  );
}

function isSameKey(a: StoredKey, b: StoredKey | undefined): boolean {
  if (b === undefined) return false;
  return "reference" in a || "reference" in b
    ? "reference" in a && "reference" in b && a.reference === b.reference
    : a.x === b.x && a.d === b.d;
}

/** Another issuer's directory is left alone. */
async function requireIssuer(store: FeedStore, issuer: string): Promise<void> {
  if (await store.revision(WELL_KNOWN_PATHS.metadata) === undefined) return;
  const found = await readDocuments(store, DEFAULT_LIMITS);
  if (found.issuer === issuer) return;
  throw refused(
    "issuer_exists",
    `the directory is that of ${quote(found.issuer)}`,
    "Nothing was written. Use another directory.",
  );
}

/** What is not there yet; anything else than what is in the backup is refused. */
async function missingFiles(
  backup: IssuerBackup,
  paths: readonly string[],
  store: FeedStore,
  feedPath: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const missing = new Map<string, Uint8Array>();
  for (const path of paths) {
    const bytes = backup.files.get(path);
    if (bytes === undefined) continue;
    const isThere = await store.revision(path) !== undefined;
    if (!isThere) missing.set(path, bytes);
    if (!isThere || path === feedPath) continue;
    const found = await store.read(path, Number.MAX_SAFE_INTEGER);
    if (found !== undefined && sameBytes(found, bytes)) continue;
    throw refused(
      "feed_rolled_back",
      `${quote(path)} has other content here, which may be newer`,
      "Nothing was written. Restore into an empty directory, or move this file away first.",
    );
  }
  return missing;
}

/** The feed that is there, which the one of the backup continues. */
async function findHeld(
  writer: FeedWriter,
  feed: Uint8Array,
  feedPath: string,
  missing: ReadonlyMap<string, Uint8Array>,
) {
  if (missing.has(feedPath)) return undefined;
  const held = await writer.openFeed(feedPath);
  const { whole, lines } = await compareFeeds(held, feed, "the backup");
  if (whole <= feed.length) return { feed: held, whole, lines };
  throw refused(
    "feed_rolled_back",
    `the feed here has ${lines} events, the backup ${countLines(feed)}`,
    "Nothing was written. The feed here is newer: continue with it.",
  );
}

function refused(
  code: ErrorCode,
  why: string,
  hint?: string,
  action = "use the backup",
): SigError {
  return new SigError(
    code,
    `Cannot ${action}: ${why}`,
    hint === undefined ? {} : { context: { hint } },
  );
}
