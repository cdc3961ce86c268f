/** The files of an issuer's directory that anyone may read. @module */

import { parseJson, validateMetadata, WELL_KNOWN_PATHS } from "@sig/core";

/** Longest `sig.json` that is read (PROTOCOL §8). */
const MAX_METADATA_BYTES = 16 * 1024;
const JSON_TYPE = "application/json";

/** The media type of a feed. */
export const FEED_TYPE = "application/x-ndjson";

/** A published file, open for reading. The caller closes it. */
export interface PublishedDocument {
  /** The open file. */
  readonly file: Deno.FsFile;
  /** What it was when it was opened. */
  readonly info: Deno.FileInfo;
  /** Its media type. */
  readonly type: string;
}

/**
 * Opens what a URL path names: DID document, metadata, and the two documents
 * that the metadata names; undefined for everything else. A symbolic link that
 * leaves the directory, or leads to our private folder, is nothing, and so is
 * whatever is not a regular file.
 */
export async function openPublished(
  dir: string,
  pathname: string,
): Promise<PublishedDocument | undefined> {
  const { did_document, metadata } = WELL_KNOWN_PATHS;
  const type = pathname === did_document
    ? "application/did+json"
    : pathname === metadata
    ? JSON_TYPE
    : await namedType(dir, pathname);
  if (type === undefined) return undefined;
  const opened = await openInside(dir, pathname);
  return opened && { ...opened, type };
}

/** The type of what the metadata calls its key set or its feed. */
async function namedType(
  dir: string,
  pathname: string,
): Promise<string | undefined> {
  const opened = await openInside(dir, WELL_KNOWN_PATHS.metadata);
  if (opened === undefined) return undefined;
  try {
    const bytes = new Uint8Array(MAX_METADATA_BYTES);
    const metadata = validateMetadata(
      parseJson(bytes.subarray(0, await readFully(opened.file, bytes))),
    );
    if (new URL(metadata.events_uri).pathname === pathname) return FEED_TYPE;
    if (new URL(metadata.jwks_uri).pathname === pathname) return JSON_TYPE;
  } catch {
    // Readers can't get past such metadata either.
  } finally {
    opened.file.close();
  }
  return undefined;
}

/** Fills the bytes as far as the file goes; answers how far. */
export async function readFully(
  file: Deno.FsFile,
  bytes: Uint8Array,
): Promise<number> {
  let length = 0;
  while (length < bytes.length) {
    const count = await file.read(bytes.subarray(length));
    if (count === null) break;
    length += count;
  }
  return length;
}

async function openInside(
  dir: string,
  pathname: string,
): Promise<Omit<PublishedDocument, "type"> | undefined> {
  let file: Deno.FsFile | undefined;
  try {
    const root = await Deno.realPath(dir);
    const path = await Deno.realPath(root + decodeURIComponent(pathname));
    const prefix = root.endsWith("/") ? root : `${root}/`;
    if (!path.startsWith(prefix) || path.startsWith(`${prefix}.sig/`)) {
      return undefined;
    }
    // Asked before opening: a FIFO would block.
    if (!(await Deno.stat(path)).isFile) return undefined;
    file = await Deno.open(path, { read: true });
    const info = await file.stat();
    if (info.isFile) return { file, info };
  } catch {
    // Missing, not readable, or not a path: the same to whoever asks.
  }
  file?.close();
  return undefined;
}
