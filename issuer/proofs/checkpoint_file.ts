/** Reads and signs the checkpoint, and adds cosigners' lines. @module */

import { SigError } from "@sig/core";
import { quote, sameBytes } from "@sig/core/internal";
import type { SigningKey, VerificationKey } from "@sig/jose/keys";
import { calculateKidOf } from "@sig/jose/internal";
import {
  type Checkpoint,
  cosignNote,
  digestKeys,
  formatCheckpoint,
  formatNote,
  MAX_CHECKPOINT_BYTES,
  MAX_SIGNATURE_LINES,
  type NoteKey,
  type NoteSignature,
  openCheckpoint,
  type OpenedCheckpoint,
  parseNote,
  type Sha256,
  signNote,
  verifyNote,
} from "@sig/jose/proofs";
import type { FeedStore } from "../store/feed_store.ts";

/** Path of the proofs below the published root. */
export const PROOFS_PATH = "/.well-known/sig/";
export const CHECKPOINT_PATH = `${PROOFS_PATH}checkpoint`;

interface CheckpointIssuer {
  /** `proofs_uri` without the scheme and the last slash. */
  readonly origin: string;
  readonly keys: ReadonlyMap<string, VerificationKey>;
}

/** The signers and the time of a checkpoint. */
interface SignCheckpointOptions {
  /** All available keys of the issuer, the newest first. */
  readonly signers: readonly SigningKey[];
  /** The newest of them that the documents list; it signs the time. */
  readonly timekeeper: SigningKey | undefined;
  readonly now: Date;
  readonly before: CheckpointFile | undefined;
}

export interface CheckpointFile extends OpenedCheckpoint {
  readonly source: string;
}

/**
 * Reads the published checkpoint and verifies its signatures.
 *
 * @returns undefined if there is none.
 * @throws {SigError} `invalid_checkpoint`.
 */
export async function readCheckpoint(
  sha256: Sha256,
  store: FeedStore,
  issuer: CheckpointIssuer,
): Promise<CheckpointFile | undefined> {
  const bytes = await store.read(CHECKPOINT_PATH, MAX_CHECKPOINT_BYTES);
  if (bytes === undefined) return undefined;
  const source = new TextDecoder().decode(bytes);
  return { ...await openCheckpoint(sha256, source, issuer), source };
}

/** Returns {@linkcode digestKeys} of keys that may sign events. */
export async function digestOf(
  sha256: Sha256,
  keys: CheckpointIssuer["keys"],
): Promise<Uint8Array> {
  const thumbprints = [...keys]
    .map(async ([kid, key]) => [kid, await calculateKidOf(key)] as const);
  return digestKeys(sha256, new Map(await Promise.all(thumbprints)));
}

/** Signs a checkpoint; a new time alone keeps the lines of cosigners. */
export async function signCheckpoint(
  sha256: Sha256,
  checkpoint: Checkpoint,
  { before, now, signers, timekeeper }: SignCheckpointOptions,
): Promise<string> {
  const { origin } = checkpoint;
  if (timekeeper === undefined) {
    throw new SigError(
      "signing_key_not_found",
      "Cannot sign checkpoint: the private part of none of the issuer's keys is in the key store",
    );
  }
  const text = formatCheckpoint(checkpoint);
  const lines: NoteSignature[] = [];
  for (const key of signers.slice(0, MAX_SIGNATURE_LINES - 1)) {
    lines.push(await signNote(sha256, text, origin, key));
  }
  const time = Math.floor(now.getTime() / 1000);
  lines.push(await cosignNote(sha256, text, origin, timekeeper, time));
  const note = before && parseNote(before.source);
  if (note?.text === text) {
    lines.push(...note.signatures.filter(({ name }) => name !== origin));
  }
  const signatures = lines.slice(0, MAX_SIGNATURE_LINES);
  return formatNote({ text, signatures });
}

/**
 * Adds cosigners' signature lines to a checkpoint and replaces older lines by
 * the same keys.
 *
 * @param lines the output of `sig cosign`.
 * @param cosigners keys whose lines must be valid signatures of this
 * checkpoint.
 * @returns the note.
 * @throws {SigError} `invalid_checkpoint` for anything but a signature line,
 * for a line in the issuer's own name, and above the limits of a checkpoint.
 */
export async function addSignatures(
  sha256: Sha256,
  { origin, source }: CheckpointFile,
  lines: string,
  cosigners: readonly NoteKey[] = [],
): Promise<string> {
  const { signatures, text } = parseNote(source);
  const added = parseNote(`${text}\n${lines.trim()}\n`).signatures;
  if (added.some(({ name }) => name === origin)) {
    throw cannotAdd(`the name ${quote(origin)} is the issuer's own`);
  }
  await verifyNote(sha256, { text, signatures: added }, cosigners);
  const kept = signatures.filter((each) =>
    !added.some((other) =>
      other.name === each.name &&
      sameBytes(other.bytes.subarray(0, 4), each.bytes.subarray(0, 4))
    )
  );
  const note = formatNote({ text, signatures: [...kept, ...added] });
  if (new TextEncoder().encode(note).length > MAX_CHECKPOINT_BYTES) {
    throw cannotAdd(`it would have over ${MAX_CHECKPOINT_BYTES} bytes`);
  }
  parseNote(note);
  return note;
}

function cannotAdd(why: string): SigError {
  return new SigError(
    "invalid_checkpoint",
    `Cannot add signature to checkpoint: ${why}`,
  );
}
