/** Reads private keys that are named on the command line. @module */

import { type OpenObject, type PrivateJwk, SigError } from "@sig/core";
import type { KeptKey } from "@sig/issuer";
import type { SigningKey } from "@sig/jose";
import { isSshKey } from "@sig/jose/keys";
import { dataFolder, usageError } from "@sig/api/program";
import type { Io } from "../terminal/io.ts";
import { type Output, warn } from "../output/write.ts";
import { findAgentKey, isAgentKey } from "./agent_key.ts";
import { parseObject, readInput } from "../terminal/read_input.ts";

const MAX_KEY_BYTES = 16 * 1024;

/**
 * Reads a key file: returns a JWK as an object, or an OpenSSH key as text.
 * Errors never quote its content.
 */
export async function readKeyFile(
  io: Io,
  path: string,
): Promise<OpenObject | string> {
  if (/^\s*\{/.test(path)) {
    // Other users of the machine can read the arguments of a command.
    throw new SigError("invalid_key", {
      action: "use key",
      reason: "it must be the name of a file, not the key itself",
      context: { hint: "Write it to a file of mode 0600, or use - (stdin)." },
    });
  }
  const bytes = await readInput(io, path, MAX_KEY_BYTES);
  const jwk = parseObject(bytes);
  if (jwk !== undefined) return jwk;
  const text = new TextDecoder().decode(bytes);
  if (isSshKey(text) || text.includes("PRIVATE KEY-----")) return text;
  throw notAJwk(path);
}

export function notAJwk(path: string, hint?: string): SigError {
  return new SigError("invalid_key", {
    action: `use ${JSON.stringify(path)}`,
    reason: "it is not a file with a JWK",
    ...hint === undefined ? {} : { context: { hint } },
  });
}

/** Reads a private JWK from a file. Warns if other users can read the file. */
export async function readPrivateJwk(
  call: Output,
  path: string,
): Promise<OpenObject> {
  const jwk = await readKeyFile(call.io, path);
  if (typeof jwk === "string") {
    throw notAJwk(
      path,
      "An OpenSSH key signs in ssh-agent: ssh-add it, then --key agent:",
    );
  }
  await warnIfOpen(call, path, "private key");
  return jwk;
}

/** Warns if other users can access a file that holds a secret. */
export async function warnIfOpen(
  call: Output,
  path: string,
  what: string,
): Promise<void> {
  const mode = path === "-" ? null : await call.io.fileMode(path);
  if (mode === null || (mode & 0o077) === 0) return;
  const shown = JSON.stringify(path);
  warn(
    call,
    `the ${what} ${shown} is open to others (mode ${
      mode.toString(8)
    }): chmod 600 ${shown}`,
  );
}

/**
 * A private key that was named by `--key`. Its kid may depend on the issuer.
 */
export interface NamedKey {
  /** The `x` of its JWK. */
  readonly x: unknown;
  readonly kid?: unknown;
  /**
   * Opens the key under a kid (default: its own, else its RFC 7638 thumbprint).
   */
  open(kid?: string): Promise<SigningKey>;
  /** Returns what a key store saves: a private key, or a reference to one. */
  keep(kid: string): Promise<KeptKey>;
}

/** Reads a private key from a file, or finds it in ssh-agent (`agent:…`). */
export async function readNamedKey(
  call: Output,
  name: string,
): Promise<NamedKey> {
  if (isAgentKey(name)) {
    const key = await findAgentKey(call, name);
    return { ...key, keep: key.open };
  }
  const { importSigningKey } = await import("@sig/jose");
  const jwk = await readPrivateJwk(call, name);
  return {
    x: jwk.x,
    kid: jwk.kid,
    open: (kid) => importSigningKey(kid === undefined ? jwk : { ...jwk, kid }),
    // The key store validates its members.
    keep: () => Promise.resolve(jwk as unknown as PrivateJwk),
  };
}

/** Reads a key as {@linkcode readNamedKey} and opens it under its own kid. */
export async function readSigningKey(
  call: Output,
  name: string,
): Promise<SigningKey> {
  return await (await readNamedKey(call, name)).open();
}

/** Returns whether {@linkcode keyStoreDir} would find a folder. */
export function hasKeyStore({ env }: Io): boolean {
  return env("SIG_KEYS_DIR") !== undefined ||
    dataFolder(env).folder !== undefined;
}

/**
 * Returns `SIG_KEYS_DIR`, else the folder `keys` in the user's data directory.
 *
 * @throws {SigError} `invalid_request` if neither exists.
 */
export function keyStoreDir(io: Io): string {
  const dir = io.env("SIG_KEYS_DIR");
  if (dir !== undefined) return dir;
  const data = dataFolder(io.env);
  if (data.folder !== undefined) return `${data.folder}/keys`;
  throw usageError(`no folder for private keys: ${data.why}`, {
    hint:
      "Set SIG_KEYS_DIR to a folder that only you can read, and let the program read that variable (--allow-env).",
  });
}
