/** Checkpoints of a feed: signed size, hashes and keys. @module */

import { quote, sameBytes } from "@sig/core/internal";
import type { VerificationKey } from "../keys/verification_key.ts";
import { decodeBase64, encodeBase64 } from "../bytes/bytes.ts";
import {
  invalidCheckpoint,
  type NoteKey,
  parseNote,
  type VerifiedNoteSignature,
  verifyNote,
} from "./note.ts";

import { HASH_BYTES } from "./tree.ts";
import { sha256 } from "../bytes/sha256.ts";

/** Maximum size of a checkpoint in bytes. */
export const MAX_CHECKPOINT_BYTES: number = 128 * 1024;

/** The content of a checkpoint. */
export interface Checkpoint {
  /** The name of the log (see {@linkcode originOfProofs}). */
  readonly origin: string;
  /** The number of events. */
  readonly size: number;
  /** The tree hash of the feed's lines. */
  readonly root: Uint8Array;
  /** The size of these lines in bytes, including their LFs. */
  readonly bytes: number;
  /** The hash of the state tree. */
  readonly state: Uint8Array;
  /** The digest of the issuer's keys (see {@linkcode digestKeys}). */
  readonly keys: Uint8Array;
  /** The commitment to a recovery key (docs/protocol.md §14.3). */
  readonly recovery?: string | undefined;
  /** The number of statements, a space, and their digest. */
  readonly statements?: string | undefined;
}

/**
 * Returns the origin of checkpoints: `proofs_uri` without the scheme and the
 * last slash.
 */
export function originOfProofs(uri: string): string {
  return uri.replace(/^https?:\/\//, "").slice(0, -1);
}

/** Returns the signed text of a checkpoint. */
export function formatCheckpoint(of: Checkpoint): string {
  return [
    of.origin,
    of.size,
    encodeBase64(of.root),
    `bytes ${of.bytes}`,
    `state ${encodeBase64(of.state)}`,
    `keys ${encodeBase64(of.keys)}`,
    ...of.recovery === undefined ? [] : [`recovery ${of.recovery}`],
    ...of.statements === undefined ? [] : [`statements ${of.statements}`],
    "",
  ].join("\n");
}

/**
 * Parses the text of a checkpoint. Unknown lines are ignored.
 *
 * @throws {SigError} `invalid_checkpoint`.
 */
function parseCheckpoint(text: string): Checkpoint {
  const [origin = "", size = "", root = "", ...more] = text.slice(0, -1)
    .split("\n");
  if (more.includes("")) throw invalidCheckpoint("it has an empty line");
  const events = readNumber(size, "size");
  const bytes = readNumber(onlyLine(more, "bytes"), "bytes");
  if (bytes < events) {
    throw invalidCheckpoint(`${bytes} bytes can't be ${events} lines`);
  }
  return {
    origin,
    size: events,
    root: readHash(root, "root"),
    bytes,
    state: readHash(onlyLine(more, "state"), "state"),
    keys: readHash(onlyLine(more, "keys"), "keys"),
    recovery: optionalLine(more, "recovery"),
    statements: optionalLine(more, "statements"),
  };
}

function optionalLine(
  lines: readonly string[],
  name: string,
): string | undefined {
  const isThere = lines.some((line) => line.startsWith(`${name} `));
  return isThere ? onlyLine(lines, name) : undefined;
}

function onlyLine(lines: readonly string[], name: string): string {
  const found = lines.filter((line) => line.startsWith(`${name} `));
  if (found.length === 1) return found[0]!.slice(name.length + 1);
  throw invalidCheckpoint(
    `it has ${found.length} lines "${name}" (expected one)`,
  );
}

function readNumber(text: string, name: string): number {
  const value = Number(text);
  if (/^(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(value)) return value;
  throw invalidCheckpoint(`its ${name} is not a number up to 2^53-1`);
}

function readHash(text: string, name: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (bytes?.length === HASH_BYTES) return bytes;
  throw invalidCheckpoint(`its ${name} is not base64 of ${HASH_BYTES} bytes`);
}

/** Options of {@linkcode openCheckpoint}. */
export interface OpenCheckpointOptions {
  /** The expected origin (see {@linkcode originOfProofs}). */
  readonly origin: string;
  /** The issuer's keys that may sign events, by kid. */
  readonly keys: ReadonlyMap<string, VerificationKey>;
  /** The keys of accepted cosigners (default: none). */
  readonly cosigners?: readonly NoteKey[];
}

/** A checkpoint with verified signatures. */
export interface OpenedCheckpoint extends Checkpoint {
  /** The kids of the issuer's keys that signed it. */
  readonly kids: readonly string[];
  /** The issuer's latest cosignature in POSIX seconds; null without any. */
  readonly time: number | null;
  /** The latest cosignature of each cosigner in POSIX seconds. */
  readonly cosignatures: ReadonlyMap<NoteKey, number>;
}

/**
 * Parses a checkpoint and verifies its signatures.
 *
 * @throws {SigError} `invalid_checkpoint` if it is malformed, has another
 * origin, no signature by a key of the issuer, or an invalid signature by a
 * known key.
 */
export async function openCheckpoint(
  source: string,
  { origin, keys, cosigners = [] }: OpenCheckpointOptions,
): Promise<OpenedCheckpoint> {
  if (new TextEncoder().encode(source).length > MAX_CHECKPOINT_BYTES) {
    throw invalidCheckpoint(`it is over ${MAX_CHECKPOINT_BYTES} bytes`);
  }
  const note = parseNote(source);
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint.origin !== origin) {
    throw invalidCheckpoint(`its origin is not ${quote(origin)}`);
  }
  const kidOf = new Map<NoteKey, string>();
  for (const [kid, key] of keys) {
    kidOf.set({ name: origin, type: "note", key }, kid);
    kidOf.set({ name: origin, type: "cosignature", key }, kid);
  }
  const known = [...kidOf.keys(), ...cosigners];
  const verified = await verifyNote(note, known);
  const kids = verified.flatMap(({ key }) =>
    key.type === "note" && kidOf.get(key) || []
  );
  if (kids.length === 0) {
    throw invalidCheckpoint("no key of the issuer has signed it");
  }
  const own = verified.filter(({ key }) => kidOf.has(key));
  return {
    ...checkpoint,
    kids,
    time: latestTime(own),
    cosignatures: latestOfEach(verified.filter(({ key }) => !kidOf.has(key))),
  };
}

function latestTime(signatures: readonly VerifiedNoteSignature[]) {
  const times = signatures.flatMap(({ time }) => time ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

function latestOfEach(
  signatures: readonly VerifiedNoteSignature[],
): ReadonlyMap<NoteKey, number> {
  const latest = new Map<NoteKey, number>();
  for (const { key, time } of signatures) {
    if (time === undefined) continue;
    latest.set(key, Math.max(time, latest.get(key) ?? 0));
  }
  return latest;
}

/**
 * Returns the digest of the keys that may sign events: SHA-256 of one line
 * `<kid> <thumbprint>` for each key, sorted by the bytes of the kid.
 *
 * @param thumbprints RFC 7638 thumbprints by kid.
 */
export function digestKeys(
  thumbprints: ReadonlyMap<string, string>,
): Uint8Array {
  const encoder = new TextEncoder();
  const lines = [...thumbprints].map(([kid, thumbprint]) => ({
    kid: encoder.encode(kid),
    line: encoder.encode(`${kid} ${thumbprint}\n`),
  }));
  lines.sort((a, b) => compareBytes(a.kid, b.kid));
  return sha256(...lines.map(({ line }) => line));
}

/** The input of {@linkcode findKeyNotIntroduced}. */
export interface KeyIntroduction {
  /** Thumbprints by kid of the keys that were accepted before. */
  readonly remembered: ReadonlyMap<string, string>;
  /** Thumbprints by kid of the keys that may sign events now. */
  readonly documents: ReadonlyMap<string, string>;
  /** The kids that a statement has ended; they need no introduction. */
  readonly ended?: ReadonlySet<string> | undefined;
  /** The checkpoint published with these documents, if it is valid. */
  readonly checkpoint?: OpenedCheckpoint | undefined;
}

/**
 * Returns the kid of a new key that no remembered key has introduced; undefined
 * if there is none. A new key is accepted only if a remembered key signed a
 * checkpoint that lists it: an attacker on the web server can publish a key,
 * but can't make that signature. A key that replaces another one under the same
 * kid is not checked here.
 */
export function findKeyNotIntroduced(
  { remembered, documents, ended, checkpoint }: KeyIntroduction,
): string | undefined {
  const added = [...documents.keys()].find((kid) =>
    !remembered.has(kid) && !ended?.has(kid)
  );
  if (added === undefined || checkpoint === undefined) return added;
  const isVouchedFor = checkpoint.kids.some((kid) =>
    remembered.has(kid) && remembered.get(kid) === documents.get(kid)
  );
  const isNamed = sameBytes(checkpoint.keys, digestKeys(documents));
  return isVouchedFor && isNamed ? undefined : added;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, i) => byte !== b[i]);
  return at < 0 ? a.length - b.length : a[at]! - (b[at] ?? -1);
}
