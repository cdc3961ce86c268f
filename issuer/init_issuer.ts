/** Creates a new issuer. @module */

import {
  DEFAULT_LIMITS,
  isSigError,
  type Jwk,
  SigError,
  type SigMetadata,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { quote, sameBytes } from "@sig/core/internal";
import { generateSigningKey } from "@sig/jose/keys";
import {
  buildDidDocument,
  buildJwks,
  buildMetadata,
  encodeDocument,
} from "./documents/build_documents.ts";
import { hostOf } from "./documents/documents.ts";
import type { FaultHooks } from "./disk/durable_file.ts";
import {
  DEFAULT_LOCK_TIMEOUT_MS,
  type FeedStore,
  type FeedWriter,
} from "./store/feed_store.ts";
import {
  DEFAULT_KID,
  type KeptKey,
  type KeyName,
  type KeyStore,
  type ReferencedKey,
  requireKid,
  toSigningKey,
} from "./keys/key_store.ts";
import { isSigningKey, type Keys } from "./documents/signing_key.ts";

/** Options of {@linkcode initIssuer}. */
export interface InitIssuerOptions {
  /** Destination of the issuer's files. */
  readonly store: FeedStore;
  /** Destination of its private key, or the key if it is kept elsewhere. */
  readonly keys: Keys;
  /**
   * The signing key, if it is kept elsewhere; the key store saves a reference
   * to it (default: a new private key).
   */
  readonly key?: ReferencedKey | undefined;
  /** The issuer's did:web, without a path. */
  readonly did: string;
  /** Identifier of the first key (default: `orgsign-1` or the given key's). */
  readonly kid?: string;
  /** Whether the feed contains public events only (default: true). */
  readonly publicOnly?: boolean;
  /**
   * As in core's `parseDidWeb`: accept an IP address or a name of a closed
   * network, which mean `http://` (default: false).
   */
  readonly allowPrivate?: boolean;
  /**
   * Whether an existing private key of this host and kid may be used for an
   * issuer that has no other files yet (default: true).
   */
  readonly reuseKey?: boolean;
  /** Milliseconds to wait for another writer (default: 10,000). */
  readonly lockTimeoutMs?: number;
  /** For tests only. */
  readonly faults?: FaultHooks;
}

/** The result of {@linkcode initIssuer}. */
export interface InitializedIssuer {
  /** The metadata as published. */
  readonly metadata: SigMetadata;
  /** The key that signs. */
  readonly kid: string;
  /** Whether the key store already had a key of this issuer and kid. */
  readonly keyReused: boolean;
}

/**
 * Creates a new issuer: private key, empty feed, `jwks.json`, `did.json`, and
 * finally `sig.json`, each durable before the next (docs/protocol.md §1). If
 * several calls run concurrently, exactly one succeeds.
 *
 * An existing private key of this host and kid is reused and never replaced:
 * `did#kid` has one key. Repeating the call therefore completes an interrupted
 * one; any other existing file is left unchanged (`issuer_exists`).
 *
 * @example
 * ```ts
 * import { createMemoryKeyStore, createMemoryStore, initIssuer } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * const { metadata, kid } = await initIssuer({
 *   store: createMemoryStore(),
 *   keys: createMemoryKeyStore(),
 *   did: "did:web:acme.example",
 * });
 * assertEquals(kid, "orgsign-1");
 * assertEquals(metadata.issuer, "did:web:acme.example");
 * ```
 *
 * @throws {SigError} `issuer_exists`, `kid_exists` (unless `reuseKey`),
 * `invalid_identifier`, `unsupported_did_method`, `address_not_allowed`,
 * `invalid_key`, `feed_locked`, `invalid_metadata`, `store_unavailable`,
 * `write_failed`.
 */
export async function initIssuer(
  options: InitIssuerOptions,
): Promise<InitializedIssuer> {
  const { did, keys, store } = options;
  const kid = options.kid ?? (isSigningKey(keys) ? keys.kid : DEFAULT_KID);
  requireKid(kid);
  const metadata = buildMetadata(did, {
    publicOnly: options.publicOnly ?? true,
    allowPrivate: options.allowPrivate ?? false,
  });
  const timeoutMs = options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS;
  return await store.exclusively(
    { timeoutMs, create: true },
    async (writer) => {
      if (await store.revision(WELL_KNOWN_PATHS.metadata) !== undefined) {
        throw exists(WELL_KNOWN_PATHS.metadata);
      }
      const found = await findFiles(store);
      const { key, keyReused } = await obtainKey(options, kid, found);
      options.faults?.onStep?.("key-stored");
      await publish(writer, metadata, key, found);
      return { metadata, kid, keyReused };
    },
  );
}

type Found = ReadonlyMap<string, Uint8Array>;

/** Returns existing files: of an interrupted call, or of another program. */
async function findFiles(store: FeedStore): Promise<Found> {
  const { did_document, feed, jwks } = WELL_KNOWN_PATHS;
  const found = new Map<string, Uint8Array>();
  for (const path of [feed, jwks, did_document]) {
    const bytes = await store.read(path, DEFAULT_LIMITS.maxJwksBytes).catch(
      (error: unknown) => {
        // A file of this size was not made by `initIssuer`.
        if (isSigError(error, "document_too_large")) throw exists(path);
        throw error;
      },
    );
    if (bytes !== undefined) found.set(path, bytes);
  }
  return found;
}

async function obtainKey(
  options: InitIssuerOptions,
  kid: string,
  found: Found,
): Promise<{ readonly key: Jwk; readonly keyReused: boolean }> {
  const { keys, key } = options;
  if (isSigningKey(keys)) {
    if (keys.kid === kid) return { key: keys.publicJwk, keyReused: true };
    throw new TypeError("Cannot make issuer: kid must be the given key's");
  }
  const name = { host: hostOf(options.did), kid };
  const kept = await keys.read(name);
  const [path] = found.keys();
  // The key is made first: files without it are not our own unfinished work.
  if (kept === undefined && path !== undefined) throw exists(path);
  if (kept !== undefined && path === undefined && options.reuseKey === false) {
    throw keyExists(name);
  }
  const used = kept ?? await makeKey(keys, name, key);
  const { publicJwk } = await toSigningKey(used, kid);
  if (key !== undefined && key.publicJwk.x !== publicJwk.x) {
    throw keyExists(name);
  }
  return { key: publicJwk, keyReused: kept !== undefined };
}

async function makeKey(
  keys: KeyStore,
  name: KeyName,
  key: ReferencedKey | undefined,
): Promise<KeptKey> {
  const fresh = key ?? await generateSigningKey({ kid: name.kid });
  try {
    await keys.write(name, fresh);
    return fresh;
  } catch (error) {
    if (!isSigError(error, "kid_exists")) throw error;
    // A concurrent call for another directory has created the key.
    return await keys.read(name) ?? fresh;
  }
}

async function publish(
  writer: FeedWriter,
  metadata: SigMetadata,
  key: Jwk,
  found: Found,
): Promise<void> {
  const { did_document, feed, jwks } = WELL_KNOWN_PATHS;
  const { maxDidDocumentBytes, maxJwksBytes, maxMetadataBytes } =
    DEFAULT_LIMITS;
  const document = buildDidDocument(metadata.issuer, [key]);
  const files = new Map([
    [feed, new Uint8Array()],
    [jwks, encodeDocument(buildJwks([key]), maxJwksBytes)],
    [did_document, encodeDocument(document, maxDidDocumentBytes)],
  ]);
  for (const [path, there] of found) {
    if (!sameBytes(there, files.get(path)!)) throw exists(path);
  }
  // Metadata is written last: an issuer exists only once its metadata does.
  files.set(
    WELL_KNOWN_PATHS.metadata,
    encodeDocument(metadata, maxMetadataBytes),
  );
  for (const [path, bytes] of files) {
    if (path === feed) await writer.create(path, bytes);
    else await writer.replace(path, bytes);
  }
}

function keyExists({ host, kid }: KeyName): SigError {
  return new SigError("kid_exists", {
    action: "make issuer",
    reason: `the key store has a key ${quote(kid)} of ${quote(host)} already`,
    context: {
      kid,
      hint:
        "Nothing was made. If the issuer exists, work in its directory or a backup of it: readers refuse a second, empty feed. If it is new, or its init was broken off: --reuse-key.",
    },
  });
}

function exists(path: string): SigError {
  return new SigError("issuer_exists", {
    action: "make issuer",
    reason: `${quote(path)} is there already`,
    context: {
      path,
      hint:
        "Nothing was overwritten. Use another directory; to complete an init that was broken off, repeat it with the same host, kid and keys.",
    },
  });
}
