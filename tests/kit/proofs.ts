/** Creates the proofs of a feed as an issuer publishes them. @module */

import { createFeedLineParser, parseEventPayload } from "@sig/core";
import { calculateKid, type SigningKey } from "@sig/jose";
import {
  type Checkpoint,
  cosignNote,
  digestKeys,
  formatCheckpoint,
  formatNote,
  originOfProofs,
  type PlacedLine,
  proveLines,
  signNote,
} from "@sig/jose/proofs";
import { PATHS } from "./test_issuer.ts";
import { type WatchedIssuer, watchIssuer } from "./watched_issuer.ts";

/** Path of the proofs below the origin. */
export const PROOFS = "/.well-known/sig/";

/** Options of {@linkcode makeProofs}. */
export interface ProofsContent {
  /** The origin of the issuer. */
  readonly origin: string;
  /** The keys that sign the checkpoint; the last one also cosigns it. */
  readonly keys: readonly SigningKey[];
  /** All keys in the documents (default: `keys`). */
  readonly published?: readonly SigningKey[];
  /** The lines of the feed, without LF. */
  readonly lines: readonly string[];
  /** The time of the cosignature in POSIX seconds; null for none. */
  readonly time?: number | null;
  /** Members that replace those of the checkpoint. */
  readonly claim?: Partial<Checkpoint>;
}

/** Creates the files of the proofs, by path. */
export async function makeProofs(
  { origin, keys, published = keys, lines, time = 1_780_000_000, claim }:
    ProofsContent,
): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const feed = placed(lines);
  const { files, root, state } = proveLines(feed);
  const made = new Map<string, Uint8Array<ArrayBuffer>>();
  const put = (path: string, bytes: Uint8Array) =>
    made.set(PROOFS + path, bytes.slice());
  for (const [path, bytes] of files) put(path, bytes);
  const name = originOfProofs(origin + PROOFS);
  const thumbprints = await Promise.all(
    published.map(async ({ kid, publicJwk }) =>
      [kid, await calculateKid(publicJwk)] as const
    ),
  );
  const text = formatCheckpoint({
    ...{ origin: name, size: feed.length, root, state },
    bytes: feed.reduce((sum, { bytes }) => sum + bytes.length + 1, 0),
    keys: digestKeys(new Map(thumbprints)),
    ...claim,
  });
  const signatures = await Promise.all(
    keys.map((key) => signNote(text, name, key)),
  );
  if (time !== null) {
    signatures.push(await cosignNote(text, name, keys.at(-1)!, time));
  }
  const note = formatNote({ text, signatures });
  put("checkpoint", new TextEncoder().encode(note));
  return made;
}

/** Returns metadata with the URL of the proofs. */
export function withProofs(metadata: string, origin: string): string {
  return JSON.stringify({
    ...JSON.parse(metadata),
    proofs_uri: origin + PROOFS,
  });
}

/** Publishes proofs, and metadata with their URL. */
export async function publishProofs(
  documents: Map<string, unknown>,
  content: ProofsContent,
): Promise<void> {
  for (const [path, bytes] of await makeProofs(content)) {
    documents.set(path, bytes);
  }
  const metadata = documents.get(PATHS.metadata) as string;
  documents.set(PATHS.metadata, withProofs(metadata, content.origin));
}

/** Starts an issuer with upserts 1 to n, and proofs of them. */
export async function watchProven(
  n: number,
  key: SigningKey,
  content: Partial<ProofsContent> = {},
): Promise<WatchedIssuer> {
  const watched = await watchIssuer(n, key);
  const { lines, server: { documents, origin } } = watched;
  await publishProofs(documents, { origin, keys: [key], lines, ...content });
  return watched;
}

function placed(lines: readonly string[]): PlacedLine[] {
  const parse = createFeedLineParser();
  return lines.map((line) => {
    const bytes = new TextEncoder().encode(line);
    return { bytes, event: parseEventPayload(parse(bytes).payload.slice()) };
  });
}
