/** Files with recovery keys, which are kept offline. @module */

import type { Jwk } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import { usageError } from "@sig/api/program";
import type { Io } from "../terminal/io.ts";
import { parseObject, readInput } from "../terminal/read_input.ts";
import type { Output } from "../output/write.ts";
import { isAgentKey } from "./agent_key.ts";
import { decryptWith, encryptWith, isEncrypted } from "./passphrase.ts";
import {
  hasKeyStore,
  keyStoreDir,
  notAJwk,
  readKeyFile,
  readSigningKey,
  warnIfOpen,
} from "./private_key.ts";

const MAX_KEY_BYTES = 16 * 1024;

/**
 * Refuses a file in the issuer's directory or in the key store: a thief of
 * either must not get the recovery key too.
 *
 * @throws {SigError} `invalid_request`.
 */
export async function requireElsewhere(
  io: Io,
  dir: string,
  path: string,
): Promise<void> {
  const parent = path.includes("/")
    ? path.slice(0, path.lastIndexOf("/"))
    : ".";
  const folder = await io.realPath(parent === "" ? "/" : parent);
  const places = [dir, ...hasKeyStore(io) ? [keyStoreDir(io)] : []];
  for (const place of places) {
    const kept = await io.realPath(place);
    if (folder !== kept && !folder.startsWith(`${kept}/`)) continue;
    throw usageError(
      `a recovery key is never kept in ${JSON.stringify(place)}`,
      { hint: "Write it to a removable medium, and keep that offline." },
    );
  }
}

/** Makes a recovery key and writes it to a new file; returns its public part. */
export async function createRecoveryKey(
  io: Io,
  path: string,
  passphrase: string | undefined,
): Promise<string> {
  const { generateSigningKey } = await import("@sig/jose");
  const { x, d, crv, kty } = await generateSigningKey();
  const text = `${JSON.stringify({ kty, crv, x, d }, null, 2)}\n`;
  const bytes = new TextEncoder().encode(text);
  await io.createPrivateFile(path, await encryptWith(io, passphrase, bytes));
  return x;
}

/**
 * Opens a recovery key: a private JWK, that JWK encrypted by age, or a key in
 * ssh-agent (`agent:…`).
 *
 * @throws {SigError} `invalid_key`, `invalid_request` for a wrong passphrase,
 * and those of reading the file.
 */
export async function readRecoveryKey(
  call: Output,
  name: string,
  passphrase: string | undefined,
): Promise<SigningKey> {
  if (isAgentKey(name)) return await readSigningKey(call, name);
  const bytes = await readInput(call.io, name, MAX_KEY_BYTES);
  await warnIfOpen(call, name, "recovery key");
  const { importSigningKey } = await import("@sig/jose");
  let plain: Uint8Array | undefined = bytes;
  if (isEncrypted(bytes)) {
    plain = passphrase === undefined
      ? undefined
      : await decryptWith(passphrase, bytes);
  }
  if (plain === undefined) {
    throw usageError(
      passphrase === undefined
        ? "the recovery key is encrypted"
        : "the passphrase of the recovery key is wrong",
      { flag: "--passphrase-file" },
    );
  }
  const jwk = parseObject(plain);
  if (jwk === undefined) throw notAJwk(name);
  return await importSigningKey(jwk);
}

/**
 * Reads the public part of a recovery key that was made elsewhere: an OpenSSH
 * public key, or a file with one or with a JWK.
 */
export async function readPublicRecoveryKey(
  call: Output,
  text: string,
): Promise<string> {
  const { sshKeyToJwk, toPublicJwk } = await import("@sig/jose");
  const isLine = text.startsWith("ssh-");
  const read = isLine ? text : await readKeyFile(call.io, text);
  const jwk = typeof read === "string"
    ? sshKeyToJwk(read)
    // `toPublicJwk` validates its members.
    : toPublicJwk(read as unknown as Jwk);
  return jwk.x;
}
