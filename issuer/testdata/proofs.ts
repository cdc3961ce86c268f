/** Reads an issuer's proofs with the functions that a reader uses. @module */

import { parseEventPayload, parseFeedLine } from "@sig/core";
import {
  openCheckpoint,
  type OpenedCheckpoint,
  proveLines,
} from "@sig/jose/proofs";
import { assertEquals } from "@std/assert";
import { type Place, publishedKeys } from "./support.ts";

const ORIGIN = "acme.example/.well-known/sig";

/** Reads the published checkpoint and verifies it with the published keys. */
export async function openPublished(place: Place): Promise<OpenedCheckpoint> {
  const { keys } = await publishedKeys(place);
  const source = await Deno.readTextFile(
    `${place.dir}/.well-known/sig/checkpoint`,
  );
  return await openCheckpoint(source, { origin: ORIGIN, keys });
}

/**
 * Compares the published checkpoint, and every file that it needs, with the
 * feed.
 *
 * @returns the checkpoint.
 */
export async function assertProofs(place: Place): Promise<OpenedCheckpoint> {
  const checkpoint = await openPublished(place);
  const feed = await Deno.readFile(place.feed);
  const text = new TextDecoder().decode(feed.subarray(0, checkpoint.bytes));
  const lines = text.split("\n").slice(0, -1)
    .map((line) => new TextEncoder().encode(line));
  assertEquals(lines.length, checkpoint.size);
  const placed = lines.map((bytes) => ({
    event: parseEventPayload(parseFeedLine(bytes).payload),
    bytes,
  }));
  const { files, root, state } = proveLines(placed);
  assertEquals([root, state], [checkpoint.root, checkpoint.state]);
  for (const [path, bytes] of files) {
    const found = await Deno.readFile(`${place.dir}/.well-known/sig/${path}`);
    assertEquals(found, bytes, path);
  }
  return checkpoint;
}
