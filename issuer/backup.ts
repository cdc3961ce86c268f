/** Backups of the parts of an issuer that can't be rebuilt. @module */

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
import { PEOPLE_PATH } from "./people/people_file.ts";
import {
  DEFAULT_LOCK_TIMEOUT_MS,
  type FeedStore,
  type FeedWriter,
} from "./store/feed_store.ts";
import { createMemoryStore } from "./store/memory_store.ts";

/** The parts of a backup. */
export interface IssuerBackup {
  /**
   * Files by path below the issuer's root: documents, feed, and unpublished
   * files (`/.sig/people.csv`, and for a login server `/.sig/oidc-keys.json` and
   * `/.sig/oidc-clients.json`).
   */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Private keys by kid. */
  readonly keys: ReadonlyMap<string, StoredKey>;
}

/** Summary of a verified backup. */
export interface VerifiedBackup {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the feed's last event. */
  readonly last_sequence: number;
  /** The published kids, the newest last. */
  readonly kids: readonly string[];
  /** Whether the issuer publishes proofs, which are rebuilt from the feed. */
  readonly has_proofs: boolean;
}

/** The result of {@linkcode restoreBackup}. */
export interface RestoredBackup extends VerifiedBackup {
  /** Number of events that the feed did not have before. */
  readonly restored: number;
}

/** Options of {@linkcode restoreBackup}. */
export interface RestoreBackupOptions {
  /** Destination of the issuer's files. */
  readonly store: FeedStore;
  /** Destination of its private keys. */
  readonly keys: KeyStore;
  /** The clock, for the file name of a saved unfinished line. */
  readonly now: () => Date;
  /** For tests only. */
  readonly faults?: FaultHooks;
}

/** Unpublished files that a backup may contain. */
const PRIVATE_PATHS: readonly string[] = [
  PEOPLE_PATH,
  "/.sig/oidc-keys.json",
  "/.sig/oidc-clients.json",
];

/** Sources of the private keys for a backup. */
export interface BackupKeys {
  /** The key store. */
  readonly keys: KeyStore;
  /** A key that is kept outside the key store, with its public part. */
  readonly own?: { readonly x: unknown; readonly key: StoredKey } | undefined;
}

/**
 * Reads the parts of a backup, under the lock.
 *
 * @param feedBytes number of bytes that the feed's complete lines have.
 * @throws {SigError} `signing_key_not_found` if the newest key is missing, and
 * those of the stores.
 */
export async function readBackup(
  store: FeedStore,
  documents: IssuerDocuments,
  feedBytes: number,
  { keys, own }: BackupKeys,
): Promise<IssuerBackup> {
  const { feedPath, host } = documents;
  const files = new Map<string, Uint8Array>();
  for (const path of [PEOPLE_PATH, ...publishedPaths(documents)]) {
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

/** Returns the published paths; `sig.json`, last, makes the issuer readable. */
function publishedPaths(
  { feedPath, jwksPath }: IssuerDocuments,
): readonly string[] {
  const { did_document, metadata } = WELL_KNOWN_PATHS;
  return [feedPath, jwksPath, did_document, metadata];
}

/**
 * Verifies a backup: the documents, every line of the feed, and that each
 * private key matches its published key.
 *
 * @throws {SigError} `invalid_request` for a file that does not belong in a
 * backup, `invalid_key`, `incomplete_line`, the first fault of a line, and
 * those of {@linkcode openIssuer}.
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
  const unexpected = [...files.keys()].find((path) => !known.has(path));
  if (unexpected !== undefined) {
    throw refused(
      "invalid_request",
      `${quote(unexpected)} is not a file of it`,
    );
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
 * Verifies a backup and restores it: keys, names, feed, key set and DID
 * document, and finally `sig.json`, each durable before the next. Existing
 * files are kept and must be identical; an existing feed may be the beginning
 * of the backup's feed. Repeating the call therefore completes an interrupted
 * restore.
 *
 * @throws {SigError} `kid_exists`, `issuer_exists`, `feed_rolled_back` if a
 * different, possibly newer file exists; `feed_rewritten`; those of
 * {@linkcode verifyBackup} and of the stores. Except for `write_failed`,
 * nothing was written.
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

/** Returns the missing files; refuses an existing file that differs. */
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

/** Returns the existing feed, which must be a beginning of the backup's. */
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
  return new SigError(code, {
    action: action,
    reason: why,
    ...hint === undefined ? {} : { context: { hint } },
  });
}
