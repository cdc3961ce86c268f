/**
 * Reads an issuer's four documents from this server, from files, or from one
 * JSON text, and verifies them with the code of the libraries.
 *
 * @module
 */

import {
  type DocumentReader,
  reportIssuer,
  type VerifiedEvent,
  type VerifyReport,
} from "@sig/consumer";
import {
  type FeedState,
  isSigError,
  parseJson,
  Replay,
  SigError,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import { hasEd25519 } from "../../browser/key_store.ts";
import { DOCUMENT_FILES as FILES } from "../page_config.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The documents that the page reads. */
type PageDocument = keyof typeof FILES;

/**
 * The available documents as bytes: decoding to text would hide invalid
 * encodings.
 */
export type Documents = { readonly [name in PageDocument]?: Bytes | undefined };

/** An error about unusable documents; its message is shown to people. */
export class DocumentsError extends Error {}

/** All documents except the feed: the issuer's name and keys. */
export const IDENTITY = ["metadata", "jwks", "did_document"] as const;

/**
 * Fetches documents from this server, which serves copies of its known issuers'
 * documents.
 */
export async function fetchDocuments(
  base: string,
  names = Object.keys(FILES) as readonly PageDocument[],
): Promise<Documents> {
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => [name, await fetchOne(base, FILES[name])]),
    ),
  );
}

async function fetchOne(base: string, file: string) {
  const response = await fetch(base + file, {
    // Asks each time; an unchanged document is not transferred again.
    cache: "no-cache",
    redirect: "error",
  }).catch(() => undefined);
  if (response?.status === 404 || response?.status === 410) return undefined;
  if (response?.ok) return new Uint8Array(await response.arrayBuffer());
  throw new DocumentsError(`This server could not get ${file}. Try again.`);
}

const MAX_FILE_BYTES = 1024 ** 3;

/** Reads documents from files: by their names, or from one JSON file. */
export async function readFiles(files: readonly File[]): Promise<Documents> {
  const found: { [name in PageDocument]?: Bytes } = {};
  for (const file of files) {
    if (file.size > MAX_FILE_BYTES) {
      throw new DocumentsError(
        `${file.name} is larger than 1 GiB, the limit of a feed. It was not read.`,
      );
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    const name = /\.(jsonl|ndjson)$/.test(file.name)
      ? "feed"
      : IDENTITY.find((each) => FILES[each] === file.name);
    if (name !== undefined) found[name] = bytes;
    else if (files.length === 1) return readJson(bytes);
    else {
      throw new DocumentsError(
        `Unknown file ${file.name}. Expected sig.json, jwks.json, did.json and events.jsonl.`,
      );
    }
  }
  return found;
}

/**
 * Reads a JSON object with the members metadata, jwks, did_document and events.
 */
export function readJson(bytes: Bytes): Documents {
  let value: unknown;
  try {
    value = parseJson(bytes);
  } catch {
    throw new DocumentsError("This is not one strict JSON object.");
  }
  if (!isObject(value) || typeof value.events !== "string") {
    throw new DocumentsError(
      "Expected the members metadata, jwks and events, where events is text.",
    );
  }
  const { events, ...identity } = value;
  const texts = Object.entries({ ...identity, feed: events }).map((
    [name, value],
  ) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
  return Object.fromEntries(
    texts.map(([name, text]) => [name, new TextEncoder().encode(text)]),
  );
}

/**
 * Requires that all named documents are present.
 *
 * @throws {DocumentsError}
 */
export function requireDocuments(
  documents: Documents,
  names: readonly PageDocument[],
): void {
  const missing = names.find((name) => documents[name] === undefined);
  if (missing) throw new DocumentsError(`${FILES[missing]} is missing.`);
}

/**
 * Returns the documents as a reader of the libraries; reports the progress of
 * the feed.
 */
export function readerOf(
  documents: Documents,
  onProgress?: (share: number) => void,
): DocumentReader {
  return {
    kind: "inline",
    // deno-lint-ignore require-await -- what it throws is a rejection
    async open(_ref, { name }) {
      const found = name === "proof" ? undefined : documents[name];
      if (found === undefined) {
        throw new SigError("source_not_found", {
          action: `read ${name}`,
          reason: "it is absent",
          context: { reason: "missing" },
        });
      }
      const bytes = chunksOf(found, name === "feed" ? onProgress : undefined);
      return { bytes, mediaType: null, etag: null, cancel() {} };
    },
  };
}

/** Yields to rendering: verification alone runs in microtasks. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Bytes of the feed that are read before yielding to rendering. */
const CHUNK_BYTES = 64 * 1024;

async function* chunksOf(
  bytes: Bytes,
  onProgress?: (share: number) => void,
): AsyncGenerator<Bytes> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    onProgress?.(at / bytes.length);
    await nextTask();
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
  onProgress?.(1);
}

/** Verified documents. */
export interface VerifiedDocuments {
  readonly report: VerifyReport;
  /** The events in the feed's order. */
  readonly events: readonly VerifiedEvent[];
  /** Undefined if the feed is not valid. */
  readonly state: FeedState | undefined;
  /** When they were verified; statuses are those of this time. */
  readonly now: Date;
}

/** A valid feed that is open in the explorer. */
export interface OpenFeed extends VerifiedDocuments {
  readonly state: FeedState;
  /** The source in links to this feed. */
  readonly source: string;
  /** The value for `sig check --sig`. */
  readonly commandSource: string;
  /** Whether the server passed the documents on, rather than the person. */
  readonly isProven: boolean;
  /** The bytes of the feed. */
  readonly bytes: Uint8Array | undefined;
}

/** Events that are replayed before yielding to rendering. */
const SLICE = 1_000;

/**
 * Verifies documents, and replays the feed if it is valid.
 *
 * @throws {DocumentsError} if the feed could not be verified.
 */
export async function verifyDocuments(
  documents: Documents,
  { issuer, onProgress, signal }: {
    /** The expected DID of the documents, if known. */
    readonly issuer?: string | undefined;
    /** Receives the verified part, from 0 to 1. */
    readonly onProgress?: (share: number) => void;
    readonly signal?: AbortSignal;
  } = {},
): Promise<VerifiedDocuments> {
  if (!await hasEd25519()) {
    throw new DocumentsError(
      "This browser can't verify Ed25519 signatures. A newer version can.",
    );
  }
  requireDocuments(documents, ["metadata", "jwks", "feed"]);
  const now = new Date();
  const events: VerifiedEvent[] = [];
  let report: VerifyReport;
  try {
    report = await reportIssuer({
      reader: readerOf(documents, (share) => {
        signal?.throwIfAborted();
        onProgress?.(share);
      }),
      metadataRef: "/.well-known/sig.json",
      expectedIssuer: issuer,
    }, { now, onEvent: (event) => void events.push(event) });
  } catch (error) {
    signal?.throwIfAborted();
    if (isSigError(error)) throw new DocumentsError(error.message);
    throw error;
  }
  if (!report.valid) return { report, events, state: undefined, now };
  const replay = new Replay({ issuer: report.issuer });
  for (const [i, { event, line, isVoid }] of events.entries()) {
    if (i % SLICE === 0) await nextTask();
    replay.apply(event, line, isVoid);
  }
  await nextTask();
  return { report, events, state: replay.state(), now };
}
