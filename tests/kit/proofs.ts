/** The proofs of a feed as an issuer publishes them, by path. @module */

import { createFeedLineParser, parseEventPayload } from "@sig/core";
import { calculateKid, type SigningKey } from "@sig/jose";
import {
  type Checkpoint,
  cosignNote,
  createSha256,
  digestKeys,
  formatCheckpoint,
  formatNote,
  originOfProofs,
  type PlacedLine,
  proveLines,
  signNote,
} from "@sig/jose/proofs";
import { PATHS } from "./test_issuer.ts";

const sha256 = createSha256();

/** Where proofs are, below the origin. */
export const PROOFS = "/.well-known/sig/";

/** What is to be proved, and by whom. */
export interface ProofsContent {
  /** Where the issuer publishes. */
  readonly origin: string;
  /** Keys that sign the checkpoint; the last one also its time. */
  readonly keys: readonly SigningKey[];
  /** All keys of the documents (default: `keys`). */
  readonly published?: readonly SigningKey[];
  /** Lines of the feed, without LF. */
  readonly lines: readonly string[];
  /** POSIX seconds of the cosignature; null for none. */
  readonly time?: number | null;
  /** Changes what the checkpoint says. */
  readonly claim?: Partial<Checkpoint>;
}

/** The files of the proofs by their paths. */
export async function makeProofs(
  { origin, keys, published = keys, lines, time = 1_780_000_000, claim }:
    ProofsContent,
): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const feed = placed(lines);
  // As if each event had been published alone.
  const sizes = feed.map((_, i) => i + 1);
  const { files, root, state } = proveLines(sha256, feed, sizes);
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
    keys: digestKeys(sha256, new Map(thumbprints)),
    ...claim,
  });
  const signatures = await Promise.all(
    keys.map((key) => signNote(sha256, text, name, key)),
  );
  if (time !== null) {
    signatures.push(await cosignNote(sha256, text, name, keys.at(-1)!, time));
  }
  const note = formatNote({ text, signatures });
  put("checkpoint", new TextEncoder().encode(note));
  return made;
}

/** Metadata that says where the proofs are. */
export function withProofs(metadata: string, origin: string): string {
  return JSON.stringify({
    ...JSON.parse(metadata),
    proofs_uri: origin + PROOFS,
  });
}

/** Publishes proofs, and the metadata that names them. */
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

function placed(lines: readonly string[]): PlacedLine[] {
  const parse = createFeedLineParser();
  return lines.map((line) => {
    const bytes = new TextEncoder().encode(line);
    return { bytes, event: parseEventPayload(parse(bytes).payload.slice()) };
  });
}
