/**
 * Reads an issuer's four documents from this server, from files, or from one
 * JSON text, and verifies them with the code of the libraries.
 *
 * @module
 */

import {
  type DocumentReader,
  type InvalidReport,
  reportIssuer,
  type ValidReport,
  type VerifiedEvent,
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
import { ShownError } from "../api.ts";
import { DOCUMENT_FILES as FILES } from "../page_config.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The documents that the page reads. */
type PageDocument = keyof typeof FILES;

/**
 * The available documents as bytes: decoding to text would hide invalid
 * encodings.
 */
export type Documents = { readonly [name in PageDocument]?: Bytes | undefined };

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
  const found = names.map(async (name) => {
    const file = FILES[name];
    const response = await fetch(base + file, {
      // Asks each time; an unchanged document is not transferred again.
      cache: "no-cache",
      redirect: "error",
    }).catch(() => undefined);
    if (response?.ok) {
      return [name, new Uint8Array(await response.arrayBuffer())];
    }
    if (response?.status === 404 || response?.status === 410) return [name];
    throw new ShownError(`This server could not get ${file}. Try again.`);
  });
  return Object.fromEntries(await Promise.all(found));
}

const MAX_FILE_BYTES = 1024 ** 3;

/** Reads documents from files: by their names, or from one JSON file. */
export async function readFiles(files: readonly File[]): Promise<Documents> {
  const found: { [name in PageDocument]?: Bytes } = {};
  for (const file of files) {
    if (file.size > MAX_FILE_BYTES) {
      throw new ShownError(
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
      throw new ShownError(
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
    throw new ShownError("This is not one strict JSON object.");
  }
  if (!isObject(value) || typeof value.events !== "string") {
    throw new ShownError(
      "Expected the members metadata, jwks and events, where events is text.",
    );
  }
  const { events, ...identity } = value;
  return Object.fromEntries(
    Object.entries({ ...identity, feed: events }).map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return [name, new TextEncoder().encode(text)];
    }),
  );
}

/**
 * Requires that all named documents are present.
 *
 * @throws {ShownError}
 */
export function requireDocuments(
  documents: Documents,
  names: readonly PageDocument[],
): void {
  const missing = names.find((name) => documents[name] === undefined);
  if (missing) throw new ShownError(`${FILES[missing]} is missing.`);
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

/** Valid documents. */
export interface VerifiedDocuments {
  readonly report: ValidReport;
  /** The events in the feed's order. */
  readonly events: readonly VerifiedEvent[];
  readonly state: FeedState;
  /** When they were verified; statuses are those of this time. */
  readonly now: Date;
}

/** A valid feed that is open in the explorer. */
export interface OpenFeed extends VerifiedDocuments {
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
 * @throws {ShownError} if the feed could not be verified.
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
): Promise<VerifiedDocuments | InvalidReport> {
  if (!await hasEd25519()) {
    throw new ShownError(
      "This browser can't verify Ed25519 signatures. A newer version can.",
    );
  }
  requireDocuments(documents, ["metadata", "jwks", "feed"]);
  const now = new Date();
  const events: VerifiedEvent[] = [];
  let report: ValidReport | InvalidReport;
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
    if (isSigError(error)) throw new ShownError(error.message);
    throw error;
  }
  if (!report.valid) return report;
  const replay = new Replay({ issuer: report.issuer });
  for (const [i, { event, line, isVoid }] of events.entries()) {
    if (i % SLICE === 0) await nextTask();
    replay.apply(event, line, isVoid);
  }
  await nextTask();
  return { report, events, state: replay.state(), now };
}
