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
  noteKeyId,
  type NoteSignature,
  openCheckpoint,
  type OpenedCheckpoint,
  parseNote,
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
  /** The issuer's keys that the documents list. */
  readonly keys: CheckpointIssuer["keys"];
  /** All available keys of the issuer, the newest first. */
  readonly signers: readonly SigningKey[];
  /** The newest of them that the documents list; it signs the time. */
  readonly timekeeper: SigningKey | undefined;
  readonly now: Date;
  readonly before: CheckpointFile | undefined;
  /** Whether the checkpoint may lack the signature of a key that signed before. */
  readonly mayDrop: (kid: string) => boolean;
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
  store: FeedStore,
  issuer: CheckpointIssuer,
): Promise<CheckpointFile | undefined> {
  const bytes = await store.read(CHECKPOINT_PATH, MAX_CHECKPOINT_BYTES);
  if (bytes === undefined) return undefined;
  const source = new TextDecoder().decode(bytes);
  return { ...await openCheckpoint(source, issuer), source };
}

/** Returns {@linkcode digestKeys} of keys that may sign events. */
export function digestOf(keys: CheckpointIssuer["keys"]): Uint8Array {
  const thumbprints = [...keys]
    .map(([kid, key]) => [kid, calculateKidOf(key)] as const);
  return digestKeys(new Map(thumbprints));
}

/**
 * Signs a checkpoint. If only the time is new, the lines of cosigners stay.
 *
 * No signature of an own key gets lost, since readers accept a new key only if
 * a key that they remember has signed: the line of a key that can't sign now
 * stays if the text is the same, and otherwise nothing is signed.
 *
 * @throws {SigError} `signing_key_not_found`.
 */
export async function signCheckpoint(
  checkpoint: Checkpoint,
  { before, keys, mayDrop, now, signers, timekeeper }: SignCheckpointOptions,
): Promise<string> {
  const { origin } = checkpoint;
  if (timekeeper === undefined) {
    throw new SigError("signing_key_not_found", {
      action: "sign checkpoint",
      reason:
        "the private part of none of the issuer's keys is in the key store",
    });
  }
  const text = formatCheckpoint(checkpoint);
  const note = before && parseNote(before.source);
  const same = note?.text === text ? note.signatures : [];
  const kept: NoteSignature[] = [];
  for (const kid of before?.kids ?? []) {
    const isSigner = signers.some((key) => key.kid === kid);
    if (isSigner || mayDrop(kid)) continue;
    const { publicKey } = keys.get(kid)!;
    const id = noteKeyId(origin, "note", publicKey);
    const lines = same.filter((line) => isLineOf(line, origin, id));
    if (lines.length === 0) throw lostSignature(kid);
    kept.push(...lines);
  }
  const lines: NoteSignature[] = [];
  for (const key of signers.slice(0, MAX_SIGNATURE_LINES - 1)) {
    lines.push(await signNote(text, origin, key));
  }
  const time = Math.floor(now.getTime() / 1000);
  lines.push(...kept);
  lines.push(await cosignNote(text, origin, timekeeper, time));
  lines.push(...same.filter(({ name }) => name !== origin));
  return formatNote({ text, signatures: lines.slice(0, MAX_SIGNATURE_LINES) });
}

function isLineOf(
  line: NoteSignature,
  name: string,
  id: Uint8Array,
): boolean {
  return line.name === name && sameBytes(line.bytes.subarray(0, 4), id);
}

function lostSignature(kid: string): SigError {
  return new SigError("signing_key_not_found", {
    action: "sign checkpoint",
    reason: `key ${quote(kid)}, which signed the last one, can't sign now`,
    context: {
      kid,
      hint:
        `Nothing was signed, since readers rely on that signature to accept newer keys. Run sig checkpoint where the key is (key store, ssh-agent, SIG_KEY_FILE), or, if it is lost: sig checkpoint --drop ${kid}.`,
    },
  });
}

/**
 * Adds cosigners' signature lines to a checkpoint. With `cosigners`, only valid
 * lines of these keys are added, and each replaces earlier ones of its key.
 * Without, lines are not verified and therefore replace nothing.
 *
 * @param lines the output of `sig cosign`.
 * @returns the note.
 * @throws {SigError} `invalid_checkpoint` for anything but a signature line,
 * for a line in the issuer's own name, for an invalid line of a cosigner, if
 * nothing can be added, and above the limits of a checkpoint.
 */
export async function addSignatures(
  { origin, source }: CheckpointFile,
  lines: string,
  cosigners: readonly NoteKey[] = [],
): Promise<string> {
  const { text, ...note } = parseNote(source);
  const verify = (line: NoteSignature) =>
    verifyNote({ text, signatures: [line] }, cosigners);
  let signatures = note.signatures;
  let count = 0;
  let why = "no line is by a given cosigner";
  for (const line of parseNote(`${text}\n${lines.trim()}\n`).signatures) {
    const { bytes, name } = line;
    if (name === origin) {
      throw cannotAdd(`the name ${quote(origin)} is the issuer's own`);
    }
    const [verified] = await verify(line);
    if (cosigners.length > 0 && verified === undefined) continue;
    const held = signatures.filter((other) =>
      isLineOf(other, name, bytes.subarray(0, 4))
    );
    if (verified === undefined) {
      requireNew(line, held);
    } else {
      // A line that was added without verification may be forged.
      const found = await Promise.allSettled(held.map(verify));
      const times = found.flatMap((each) =>
        each.status === "fulfilled" ? each.value : []
      ).map(({ time = 0 }) => time);
      if (Math.max(...times) > (verified.time ?? 0)) {
        why = `it has a later line by ${quote(name)}`;
        continue;
      }
    }
    signatures = [...signatures.filter((each) => !held.includes(each)), line];
    count++;
  }
  if (count === 0) throw cannotAdd(why);
  const added = formatNote({ text, signatures });
  if (new TextEncoder().encode(added).length > MAX_CHECKPOINT_BYTES) {
    throw cannotAdd(`it would have over ${MAX_CHECKPOINT_BYTES} bytes`);
  }
  parseNote(added);
  return added;
}

function requireNew(
  { bytes, name }: NoteSignature,
  held: readonly NoteSignature[],
): void {
  if (held.every((other) => sameBytes(other.bytes, bytes))) return;
  throw cannotAdd(
    `it has another line by the same key of ${quote(name)}`,
    "Only a line that is verified replaces it: name the key with --cosigner.",
  );
}

function cannotAdd(why: string, hint?: string): SigError {
  return new SigError("invalid_checkpoint", {
    action: "add signature to checkpoint",
    reason: why,
    ...hint === undefined ? {} : { context: { hint } },
  });
}
