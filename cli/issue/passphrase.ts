/** Files encrypted with a passphrase, by age (age-encryption.org/v1). @module */

import { decodeSecretLine, usageError } from "@sig/api/program";
import type { Output } from "../output/write.ts";
import type { Io } from "../terminal/io.ts";
import { readInput } from "../terminal/read_input.ts";
import { warnIfOpen } from "./private_key.ts";

/** The first bytes of a file that age encrypted. */
const AGE = "age-encryption.org/";
const MAX_PASSPHRASE_BYTES = 4096;

/** Returns whether age has encrypted these bytes. */
export function isEncrypted(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, AGE.length)) === AGE;
}

/**
 * Encrypts bytes, so that `age -d` reads them too; returns them unchanged
 * without a passphrase.
 */
export async function encryptWith(
  { passphraseCost = 18 }: Pick<Io, "passphraseCost">,
  passphrase: string | undefined,
  bytes: Uint8Array,
): Promise<Uint8Array> {
  if (passphrase === undefined) return bytes;
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(passphraseCost);
  return await encrypter.encrypt(bytes);
}

/** Decrypts bytes; undefined if the passphrase is wrong or they are damaged. */
export async function decryptWith(
  passphrase: string,
  bytes: Uint8Array,
): Promise<Uint8Array | undefined> {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  return await decrypter.decrypt(bytes).catch(() => undefined);
}

/** Reads a passphrase from a file, without the line ending. */
export async function readPassphrase(
  call: Output,
  path: string | undefined,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const bytes = await readInput(call.io, path, MAX_PASSPHRASE_BYTES);
  await warnIfOpen(call, path, "passphrase");
  const text = decodeSecretLine(bytes);
  // A file of blanks alone is probably a mistake.
  if (text?.trim()) return text;
  throw usageError("the passphrase must be one line of text", {
    flag: "--passphrase-file",
  });
}
