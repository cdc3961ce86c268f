/** A new issuer. @module */

import {
  DEFAULT_LIMITS,
  isSigError,
  type Jwk,
  parseIssuerDid,
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
  /** Where the issuer's files will be. */
  readonly store: FeedStore;
  /** Where its private key will be kept; or the key itself, kept elsewhere. */
  readonly keys: Keys;
  /**
   * The key that signs, if it is kept elsewhere; the key store keeps the
   * reference (default: a new private key).
   */
  readonly key?: ReferencedKey | undefined;
  /** The issuer's did:web, without a path. */
  readonly did: string;
  /** The first key's identifier (default: `orgsign-1` or the given key's). */
  readonly kid?: string;
  /** Whether the feed is to hold public events only (default: true). */
  readonly publicOnly?: boolean;
  /** Accept an IP address or `localhost`, which then means `http://`. */
  readonly allowPrivate?: boolean;
  /**
   * Whether a key of this host and kid that the key store has already may sign
   * for an issuer of which nothing else is here (default: true).
   */
  readonly reuseKey?: boolean;
  /** Milliseconds to wait for another writer (default: 10,000). */
  readonly lockTimeoutMs?: number;
  /** For tests only. */
  readonly faults?: FaultHooks;
}

/** What {@linkcode initIssuer} made. */
export interface InitializedIssuer {
  /** The metadata as published. */
  readonly metadata: SigMetadata;
  /** The key that signs. */
  readonly kid: string;
  /** True when the key store had a key of this issuer and kid already. */
  readonly keyReused: boolean;
}

/**
 * Makes a new issuer: private key, empty feed, `jwks.json`, `did.json`, and at
 * last `sig.json`, each of them durable before the next (docs/protocol.md §1). Of
 * several calls at once exactly one succeeds.
 *
 * A private key of this host and kid that the key store has already is used
 * again, never replaced: `did#kid` has one key. So a call that was broken off is
 * completed by the same call; anything else that is found in place is
 * left alone (`issuer_exists`).
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
 * `invalid_identifier`,
 * `unsupported_did_method`, `address_not_allowed`, `invalid_key`,
 * `feed_locked`, `invalid_metadata`, `store_unavailable`, `write_failed`.
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

/** What a call that was broken off, or someone else, left in place. */
async function findFiles(store: FeedStore): Promise<Found> {
  const { did_document, feed, jwks } = WELL_KNOWN_PATHS;
  const found = new Map<string, Uint8Array>();
  for (const path of [feed, jwks, did_document]) {
    const bytes = await store.read(path, DEFAULT_LIMITS.maxJwksBytes).catch(
      (error: unknown) => {
        // So large, it is not ours.
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
  const { host, port } = parseIssuerDid(options.did, { allowPrivate: true });
  const name = { host: port === undefined ? host : `${host}:${port}`, kid };
  const kept = await keys.read(name);
  const [path] = found.keys();
  // The key is made first of all: files without it are not our unfinished work.
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
    // An issuer of the same name elsewhere was faster.
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
  // Metadata last: an issuer exists when its metadata does.
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
  return new SigError(
    "kid_exists",
    `Cannot make issuer: the key store has a key ${quote(kid)} of ${
      quote(host)
    } already`,
    {
      context: {
        kid,
        hint:
          "Nothing was made. If the issuer exists, work in its directory or a backup of it: readers refuse a second, empty feed. If it is new, or its init was broken off: --reuse-key.",
      },
    },
  );
}

function exists(path: string): SigError {
  return new SigError(
    "issuer_exists",
    `Cannot make issuer: ${quote(path)} is there already`,
    {
      context: {
        path,
        hint:
          "Nothing was overwritten. Use another directory; to complete an init that was broken off, repeat it with the same host, kid and keys.",
      },
    },
  );
}
