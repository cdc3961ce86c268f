/** Reads the issuer's documents. @module */

import {
  createFeedLineParser,
  type FeedLineParser,
  JsonError,
  type Limits,
  type OpenObject,
  parseIssuerDid,
  parseJson,
  SigError,
  type SigMetadata,
  validateMetadata,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  createKeyResolver,
  type KeyResolver,
  readDidDocument,
} from "@sig/jose/keys";
import { endKeysOf, readRecovery, type Recovery } from "@sig/jose/recovery";
import type { FeedStore } from "../store/feed_store.ts";

/** The rules that verify a feed's lines. */
export interface LineRules {
  readonly issuer: string;
  readonly publicOnly: boolean;
  /** Resolves the keys that may sign events. */
  readonly keys: KeyResolver;
  /** The recovery key and its statements, if the issuer has one. */
  readonly recovery: Recovery | undefined;
  readonly limits: Limits;
  readonly parseLine: FeedLineParser;
}

/** The parsed and validated documents. */
export interface IssuerDocuments extends LineRules {
  readonly metadata: SigMetadata;
  /** Host of the issuer, with its port if it has one: names the key folder. */
  readonly host: string;
  /** Path of the key set below the published root. */
  readonly jwksPath: string;
  /** Path of the feed below the published root. */
  readonly feedPath: string;
  /** The key set, including members that SIG does not define. */
  readonly jwks: OpenObject;
  /** The DID document with all of its members; undefined if absent. */
  readonly didDocument: OpenObject | undefined;
  /** Keys that the DID document authorises to sign events: `x` by kid. */
  readonly authorized: ReadonlyMap<string, string> | undefined;
}

/**
 * Reads metadata, key set and DID document by the rules of a reader.
 *
 * @throws {SigError} `source_not_found`, `invalid_metadata`,
 * `invalid_did_document`, `document_too_large`, `invalid_recovery`,
 * `recovery_contradicted`, and those of jose's `createKeyResolver`.
 */
export async function readDocuments(
  store: FeedStore,
  limits: Limits,
): Promise<IssuerDocuments> {
  const { did_document, metadata: metadataPath } = WELL_KNOWN_PATHS;
  const { maxDidDocumentBytes, maxJwksBytes, maxMetadataBytes } = limits;
  const metadata = validateMetadata(
    await readJson(store, metadataPath, maxMetadataBytes, "invalid_metadata"),
  );
  const jwksPath = publishedPath("jwks_uri", metadata.jwks_uri);
  const feedPath = publishedPath("events_uri", metadata.events_uri);
  const jwks = await readJson(store, jwksPath, maxJwksBytes, "invalid_key");
  const didDocument = await store.revision(did_document) === undefined
    ? undefined
    : await readJson(
      store,
      did_document,
      maxDidDocumentBytes,
      "invalid_did_document",
    );
  const authorized = didDocument &&
    readDidDocument(didDocument, metadata.issuer);
  const keys = await createKeyResolver(jwks, { authorized, limits });
  const recovery = metadata.recovery === undefined
    ? undefined
    : await readRecovery(metadata.recovery, metadata.issuer);
  return {
    issuer: metadata.issuer,
    publicOnly: metadata.public_only,
    limits,
    parseLine: createFeedLineParser({ limits }),
    metadata,
    host: hostOf(metadata.issuer),
    jwksPath,
    feedPath,
    jwks,
    didDocument,
    authorized,
    keys: recovery === undefined ? keys : endKeysOf(keys, recovery),
    recovery,
  };
}

/** Returns an issuer's host, with its port if it has one. */
export function hostOf(did: string): string {
  const { host, port } = parseIssuerDid(did, { allowPrivate: true });
  return port === undefined ? host : `${host}:${port}`;
}

/** Returns a value that changes when the documents change. */
export async function documentsRevision(
  store: FeedStore,
  jwksPath: string,
): Promise<string> {
  const metadata = await store.revision(WELL_KNOWN_PATHS.metadata);
  const did = await store.revision(WELL_KNOWN_PATHS.did_document);
  const jwks = await store.revision(jwksPath);
  return `${metadata} ${did} ${jwks}`;
}

async function readJson(
  store: FeedStore,
  path: string,
  maxBytes: number,
  invalid: "invalid_metadata" | "invalid_key" | "invalid_did_document",
): Promise<OpenObject> {
  const bytes = await store.read(path, maxBytes);
  if (bytes === undefined) {
    throw new SigError("source_not_found", {
      action: "open issuer",
      reason: `${JSON.stringify(path)} is missing`,
      context: { path },
    });
  }
  try {
    const value = parseJson(bytes);
    if (isObject(value)) return value;
    throw new JsonError("syntax", "", "it must be one JSON object");
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new SigError(
      error.fault === "duplicate" ? "duplicate_json_member" : invalid,
      {
        action: "open issuer",
        reason: `${JSON.stringify(path)}: ${error.message}`,
        context: { path, pointer: error.pointer },
      },
    );
  }
}

/**
 * Returns the path below the published root of a URL in `sig.json`, whatever
 * its host (docs/protocol.md §1).
 *
 * @throws {SigError} `invalid_metadata` for a path that could leave the root or
 * that names the private folder.
 */
function publishedPath(member: string, uri: string): string {
  // `URL` resolves "..", plain or encoded, but not encoded slashes.
  const segments = new URL(uri).pathname.split("/").slice(1).map(decode);
  const plain = segments.every((segment) =>
    segment !== undefined && segment !== "" && segment !== "." &&
    segment !== ".." && !/[/\\\0]/.test(segment)
  );
  if (plain && segments[0] !== ".sig") return `/${segments.join("/")}`;
  throw new SigError("invalid_metadata", {
    action: "open issuer",
    reason: `${member} must name a file inside the issuer's directory`,
    context: { pointer: `/${member}` },
  });
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
