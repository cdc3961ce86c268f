/**
 * Signed notes (C2SP signed-note) and cosignatures (C2SP tlog-cosignature).
 *
 * @module
 */

import { SigError } from "@sig/core";
import { encodeHex } from "@std/encoding/hex";
import {
  decodeBase64UrlStrict,
  joinBytes,
  quote,
  sameBytes,
} from "@sig/core/internal";
import type { SigningKey } from "../keys/signing_key.ts";
import {
  importVerificationKey,
  type VerificationKey,
} from "../keys/verification_key.ts";
import { decodeBase64, encodeBase64, encodeBase64Url } from "../bytes/bytes.ts";
import { sha256 } from "../bytes/sha256.ts";

/** The type byte of a key (C2SP signed-note, "Signature types"). */
export const SIGNATURE_TYPES = { note: 0x01, cosignature: 0x04 } as const;

/** Maximum number of signature lines in a note. */
export const MAX_SIGNATURE_LINES = 64;

/** A key that signs notes under a name. */
export interface NoteKey {
  /** The name in signature lines. */
  readonly name: string;
  /** What the key signs: the text, or a time and the text. */
  readonly type: keyof typeof SIGNATURE_TYPES;
  /** The public key. */
  readonly key: VerificationKey;
}

/** A signature line of a note. */
export interface NoteSignature {
  /** The name of the signer. */
  readonly name: string;
  /** The key ID (4 bytes) and the signature. */
  readonly bytes: Uint8Array;
}

/** A parsed note. Its signatures are not verified. */
export interface Note {
  /** The signed text, including its last LF. */
  readonly text: string;
  /** The signature lines. */
  readonly signatures: readonly NoteSignature[];
}

/** A verified signature of a known key. */
export interface VerifiedNoteSignature {
  /** The key of the signature. */
  readonly key: NoteKey;
  /** The time of a cosignature in POSIX seconds. */
  readonly time?: number;
}

/** Control characters except LF. */
// deno-lint-ignore no-control-regex -- matches the characters that a note must not contain
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f]/;
const SIGNATURE_LINE = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u;

/** Creates the error of an invalid checkpoint. */
export function invalidCheckpoint(why: string): SigError {
  return new SigError("invalid_checkpoint", {
    action: "read checkpoint",
    reason: why,
  });
}

/**
 * Parses a note: a text, an empty line, signature lines.
 *
 * @throws {SigError} `invalid_checkpoint`.
 */
export function parseNote(source: string): Note {
  if (CONTROL.test(source)) {
    throw invalidCheckpoint("it has control characters");
  }
  const end = source.lastIndexOf("\n\n");
  if (end < 0) throw invalidCheckpoint("no empty line precedes signatures");
  if (!source.endsWith("\n")) {
    throw invalidCheckpoint("its last line has no line feed");
  }
  const lines = source.slice(end + 2, -1).split("\n");
  if (lines.length > MAX_SIGNATURE_LINES) {
    throw invalidCheckpoint(
      `it has ${lines.length} signature lines (at most ${MAX_SIGNATURE_LINES})`,
    );
  }
  return { text: source.slice(0, end + 1), signatures: lines.map(parseLine) };
}

function parseLine(line: string, at: number): NoteSignature {
  const [, name, base64] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = base64 === undefined ? undefined : decodeBase64(base64);
  if (name === undefined || bytes === undefined || bytes.length < 5) {
    throw invalidCheckpoint(`signature line ${at + 1} is malformed`);
  }
  return { name, bytes };
}

/** Formats a note as text; the inverse of `parseNote`. */
export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(formatSignature).join("")}`;
}

/** Formats a signature line with its LF. */
export function formatSignature({ name, bytes }: NoteSignature): string {
  return `— ${name} ${encodeBase64(bytes)}\n`;
}

/** Returns the key ID, which identifies one of the keys of a name. */
export function noteKeyId(
  name: string,
  type: NoteKey["type"],
  publicKey: Uint8Array,
): Uint8Array {
  const head = encoder.encode(`${name}\n`);
  const typeByte = Uint8Array.of(SIGNATURE_TYPES[type]);
  return sha256(head, typeByte, publicKey).subarray(0, 4);
}

const encoder = new TextEncoder();

/**
 * Verifies the lines with the key ID of a known key; other lines are ignored.
 *
 * @throws {SigError} `invalid_checkpoint` if the line of a known key is not a
 * signature of this text.
 */
export async function verifyNote(
  { text, signatures }: Note,
  keys: readonly NoteKey[],
): Promise<readonly VerifiedNoteSignature[]> {
  const known = keys.map((key) => ({
    key,
    id: noteKeyId(key.name, key.type, key.key.publicKey),
  }));
  const verified: VerifiedNoteSignature[] = [];
  for (const { name, bytes } of signatures) {
    const id = bytes.subarray(0, 4);
    const by = known.find((each) =>
      each.key.name === name && sameBytes(each.id, id)
    );
    if (by !== undefined) {
      verified.push(await verifyLine(by.key, text, bytes.subarray(4)));
    }
  }
  return verified;
}

async function verifyLine(
  key: NoteKey,
  text: string,
  bytes: Uint8Array,
): Promise<VerifiedNoteSignature> {
  const fault = () =>
    invalidCheckpoint(
      `the signature by ${quote(key.name)} does not verify`,
    );
  if (key.type === "note") {
    if (await key.key.verify(bytes, encoder.encode(text))) return { key };
    throw fault();
  }
  if (bytes.length !== 72) throw fault();
  const time = Number(
    new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0),
  );
  if (!Number.isSafeInteger(time)) throw fault();
  const signed = cosignedMessage(text, time);
  if (await key.key.verify(bytes.subarray(8), signed)) return { key, time };
  throw fault();
}

function cosignedMessage(text: string, time: number): Uint8Array {
  return encoder.encode(`cosignature/v1\ntime ${time}\n${text}`);
}

/** Signs the text of a note. */
export async function signNote(
  text: string,
  name: string,
  key: SigningKey,
): Promise<NoteSignature> {
  const id = signerId(name, "note", key);
  const signature = await key.sign(encoder.encode(text));
  return { name, bytes: joinBytes([id, signature]) };
}

/**
 * Cosigns the text of a note.
 *
 * @param time POSIX seconds.
 */
export async function cosignNote(
  text: string,
  name: string,
  key: SigningKey,
  time: number,
): Promise<NoteSignature> {
  const id = signerId(name, "cosignature", key);
  const at = new Uint8Array(8);
  new DataView(at.buffer).setBigUint64(0, BigInt(time));
  const signature = await key.sign(cosignedMessage(text, time));
  return { name, bytes: joinBytes([id, at, signature]) };
}

function signerId(
  name: string,
  type: NoteKey["type"],
  key: SigningKey,
): Uint8Array {
  const publicKey = decodeBase64UrlStrict(key.publicJwk.x ?? "");
  if (publicKey?.length !== 32) {
    throw new TypeError("Cannot sign note: the key has no public part");
  }
  return noteKeyId(name, type, publicKey);
}

const VKEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u;

/**
 * Parses a verifier key in the format of notes: `<name>+<key ID>+<base64>`.
 *
 * @throws {SigError} `invalid_key`, with what is wrong.
 */
export async function parseVerifierKey(text: string): Promise<NoteKey> {
  const [, name = "", id, base64 = ""] = VKEY.exec(text) ?? [];
  const bytes = decodeBase64(base64);
  const type = bytes?.[0] === SIGNATURE_TYPES.note
    ? "note"
    : bytes?.[0] === SIGNATURE_TYPES.cosignature
    ? "cosignature"
    : undefined;
  if (bytes?.length !== 33 || type === undefined) {
    throw invalidVerifierKey("expected <name>+<key ID>+<base64> of Ed25519");
  }
  const publicKey = bytes.subarray(1);
  if (encodeHex(noteKeyId(name, type, publicKey)) !== id) {
    throw invalidVerifierKey("its key ID is not that of its name and key");
  }
  const x = encodeBase64Url(publicKey);
  const key = await importVerificationKey({ kty: "OKP", crv: "Ed25519", x });
  return { name, type, key };
}

/** Formats a verifier key; the inverse of {@linkcode parseVerifierKey}. */
export function formatVerifierKey(of: NoteKey): string {
  const { publicKey } = of.key;
  const id = encodeHex(noteKeyId(of.name, of.type, publicKey));
  const typeByte = Uint8Array.of(SIGNATURE_TYPES[of.type]);
  return `${of.name}+${id}+${encodeBase64(joinBytes([typeByte, publicKey]))}`;
}

function invalidVerifierKey(why: string): SigError {
  return new SigError("invalid_key", {
    action: "read verifier key",
    reason: why,
  });
}
