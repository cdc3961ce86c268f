/** Private keys as the command line is given them. @module */

import {
  isObject,
  JsonError,
  type OpenObject,
  parseJson,
  SigError,
} from "@sig/core";
import { importSigningKey, type SigningKey } from "@sig/jose";
import type { Io } from "./io.ts";
import { usageError } from "./parse_command_line.ts";

const MAX_KEY_BYTES = 16 * 1024;

/** Reads a JWK file; nothing of it is ever quoted. */
export async function readJwk(io: Io, path: string): Promise<OpenObject> {
  const bytes = path === "-"
    ? await io.readStdin(MAX_KEY_BYTES)
    : await io.readFile(path, MAX_KEY_BYTES);
  try {
    const value = parseJson(bytes);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new SigError(
    "invalid_key",
    `Cannot use ${JSON.stringify(path)}: it is not a file with a JWK`,
  );
}

/**
 * The private key of a file. Its kid is the one asked for, else its own, else
 * what `kidOf` knows of its public part.
 */
export async function readSigningKey(
  io: Io,
  path: string,
  kid?: string,
  kidOf?: (x: unknown) => string | undefined,
): Promise<SigningKey> {
  const jwk = await readJwk(io, path);
  const named = kid ?? jwk.kid ?? kidOf?.(jwk.x);
  return await importSigningKey(
    named === undefined ? jwk : {
      ...jwk,
      kid: named,
    },
  );
}

const PKCS8_PREFIX = "302e020100300506032b657004220420";

/** The peer's `--seed-hex` as a private JWK. */
export async function seedToJwk(hex: string): Promise<OpenObject> {
  if (!/^[0-9a-fA-F]{64}$/.test(hex)) {
    throw usageError("--seed-hex must be 64 hexadecimal digits", {
      flag: "--seed-hex",
    });
  }
  const der = Uint8Array.fromHex(PKCS8_PREFIX + hex);
  const key = await crypto.subtle.importKey("pkcs8", der, "Ed25519", true, [
    "sign",
  ]);
  const { kty, crv, x, d } = await crypto.subtle.exportKey("jwk", key);
  return { kty, crv, x, d };
}
