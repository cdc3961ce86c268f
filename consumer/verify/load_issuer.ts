/**
 * Loads and checks an issuer's documents before its feed is read
 * (docs/protocol.md §1).
 *
 * @module
 */

import {
  DEFAULT_LIMITS,
  JsonError,
  type Limits,
  parseJson,
  SigError,
  type SigMetadata,
  type SourceKind,
  validateMetadata,
  type Warning,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  createKeyResolver,
  type KeyResolver,
  readDidDocument,
  type VerificationBackend,
  type VerificationKey,
} from "@sig/jose/keys";
import type { Recovery } from "@sig/jose/recovery";
import type {
  FetchConditions,
  OpenedDocument,
} from "../fetch/fetch_options.ts";
import { checkMediaType } from "../fetch/response_rules.ts";
import {
  type DocumentReader,
  isMissing,
  type IssuerLocation,
  type OpenOptions,
  readAll,
  sourceOf,
} from "../read/reader.ts";

/** Options of {@linkcode loadIssuer}. */
export interface LoadIssuerOptions {
  /** Size limits (default: core's). */
  readonly limits?: Limits | undefined;
  /**
   * Accepts `jwks_uri` and `events_uri` of other origins too (default: false).
   */
  readonly allowOtherOrigins?: boolean | undefined;
  /**
   * The verifier of signatures (default: `auto`). A long-running server uses
   * `node`, since it loads `node:crypto` anyway.
   */
  readonly backend?: VerificationBackend | undefined;
}

/** {@linkcode LoadIssuerOptions}, and results of an earlier load. */
export interface ReloadIssuerOptions extends LoadIssuerOptions {
  /** Keys that were imported earlier, by kid. */
  readonly knownKeys?: ReadonlyMap<string, VerificationKey> | undefined;
  /** Called with the checked metadata, once the keys are requested. */
  readonly onMetadata?: ((metadata: SigMetadata) => void) | undefined;
}

/** An issuer whose documents were checked. */
export interface LoadedIssuer {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The kind of source of its documents. */
  readonly source: SourceKind;
  /** Its metadata. */
  readonly metadata: SigMetadata;
  /** The keys that may sign its events. */
  readonly keys: KeyResolver;
  /** The issuer's recovery key and its statements, if it has one. */
  readonly recovery: Recovery | undefined;
  /** Warnings about the documents. */
  readonly warnings: readonly Warning[];
  /** Opens the feed. The warnings are about its media type. */
  openFeed(conditions?: FetchConditions): Promise<{
    readonly document: OpenedDocument;
    readonly warnings: readonly Warning[];
  }>;
}

/**
 * Reads and checks metadata, key set and DID document. Metadata is read first:
 * it must name the issuer that its origin proves before anything else is
 * requested, or a host could publish in another's name.
 *
 * @throws {SigError} `invalid_metadata`, `issuer_mismatch`,
 * `invalid_did_document`, the codes of `createKeyResolver`,
 * `invalid_recovery`, `recovery_contradicted`, `duplicate_json_member`, and the
 * errors of reading the documents.
 */
export async function loadIssuer(
  location: IssuerLocation,
  options: ReloadIssuerOptions = {},
): Promise<LoadedIssuer> {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const { reader } = location;
  const warnings: Warning[] = [];
  const read = async (name: JsonDocument, ref: string, maxBytes: number) => {
    const document = await open(reader, ref, { name, maxBytes }, warnings);
    return parseDocument(name, await readAll(document, maxBytes));
  };
  const metadata = validateMetadata(
    await read("metadata", location.metadataRef, limits.maxMetadataBytes),
  );
  requireIssuer(metadata, location.expectedIssuer);
  if (reader.kind === "remote" && !options.allowOtherOrigins) {
    requireSameOrigin(metadata, location.metadataRef);
  }
  // The origin has been checked; local readers use only the path.
  const base = reader.kind === "remote"
    ? location.metadataRef
    : metadata.events_uri;
  const didRef = new URL(WELL_KNOWN_PATHS.did_document, base).href;
  const reading = [
    read("jwks", metadata.jwks_uri, limits.maxJwksBytes),
    read("did_document", didRef, limits.maxDidDocumentBytes).catch((error) => {
      if (!isMissing(error)) throw error;
      warnings.push({
        code: "did_document_missing",
        detail: "there is no did.json: keys are taken from jwks.json alone",
      });
    }),
  ] as const;
  options.onMetadata?.(metadata);
  // Waits for both, so that no request is left running. Of two failures, the
  // first in the list is thrown.
  await Promise.allSettled(reading);
  const [jwks, didDocument] = await Promise.all(reading);
  const authorized = didDocument === undefined
    ? undefined
    : readDidDocument(didDocument, metadata.issuer);
  const keys = await createKeyResolver(jwks, {
    authorized,
    limits,
    known: options.knownKeys,
    ...(options.backend === undefined ? {} : { backend: options.backend }),
  });
  return {
    issuer: metadata.issuer,
    source: sourceOf(location, metadata),
    metadata,
    ...await withRecovery(metadata, keys),
    warnings,
    async openFeed(conditions) {
      const warnings: Warning[] = [];
      const { maxFeedBytes: maxBytes } = limits;
      const openOptions = { name: "feed", maxBytes, conditions } as const;
      const ref = metadata.events_uri;
      return {
        document: await open(reader, ref, openOptions, warnings),
        warnings,
      };
    },
  };
}

/**
 * Applies the statements of the issuer's recovery key to its keys. Their code is
 * loaded on demand, because few issuers have any.
 */
async function withRecovery(
  { issuer, recovery: member }: SigMetadata,
  keys: KeyResolver,
): Promise<Pick<LoadedIssuer, "keys" | "recovery">> {
  if (member === undefined) return { keys, recovery: undefined };
  const { endKeysOf, readRecovery } = await import("@sig/jose/recovery");
  const recovery = await readRecovery(member, issuer);
  return { keys: endKeysOf(keys, recovery), recovery };
}

function requireIssuer(
  metadata: SigMetadata,
  expected: string | undefined,
): void {
  if (expected === undefined || metadata.issuer === expected) return;
  throw new SigError("issuer_mismatch", {
    action: "trust metadata",
    reason: `the issuer is ${
      quote(metadata.issuer)
    }, but the origin is that of ${quote(expected)}`,
    context: {
      pointer: "/issuer",
      expected,
      hint: "An issuer publishes under its own host only.",
    },
  });
}

/**
 * Without this, a host could make a reader fetch from any other host and trust
 * it.
 */
function requireSameOrigin(metadata: SigMetadata, metadataRef: string): void {
  const { origin } = new URL(metadataRef);
  for (const name of ["jwks_uri", "events_uri"] as const) {
    if (new URL(metadata[name]).origin === origin) continue;
    throw new SigError("invalid_metadata", {
      action: "trust metadata",
      reason: `${name} must be on the origin of sig.json`,
      context: { pointer: `/${name}`, expected: origin },
    });
  }
}

async function open(
  reader: DocumentReader,
  ref: string,
  options: OpenOptions,
  warnings: Warning[],
): Promise<OpenedDocument> {
  const document = await reader.open(ref, options);
  const warning = checkMediaType(options.name, document.mediaType);
  if (warning) warnings.push(warning);
  return document;
}

const FAULT_OF = Object.freeze(
  {
    metadata: ["invalid_metadata", "sig.json"],
    jwks: ["invalid_key", "jwks.json"],
    did_document: ["invalid_did_document", "did.json"],
  } as const,
);

type JsonDocument = keyof typeof FAULT_OF;

function parseDocument(
  name: JsonDocument,
  bytes: Uint8Array,
): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const [code, file] = FAULT_OF[name];
    const place = error.pointer === "" ? "" : `${error.pointer} `;
    throw new SigError(
      error.fault === "duplicate" ? "duplicate_json_member" : code,
      {
        action: `read ${file}`,
        reason: `${place}${error.message}`,
        context: { document: file, pointer: error.pointer },
      },
    );
  }
}

/** Returns whether a key is published and authorised, also if it has ended. */
export function maySign(keys: KeyResolver, kid: string): boolean {
  try {
    return keys.resolve(kid) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the keys that may sign events and have not ended, by kid. */
export function signingKeys(
  keys: KeyResolver,
): ReadonlyMap<string, VerificationKey> {
  return new Map(
    [...keys.keys].filter(([kid]) =>
      maySign(keys, kid) && keys.endOf(kid) === undefined
    ),
  );
}
