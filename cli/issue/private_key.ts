/** Private keys as the command line is given them. @module */

import { JsonError, type OpenObject, parseJson, SigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { SigningKey } from "@sig/jose";
import { usageError } from "@sig/api/flags";
import { dataFolder } from "@sig/api/process";
import type { Io } from "../terminal/io.ts";
import { type Output, warn } from "../output/write.ts";
import { readInput } from "../terminal/read_input.ts";

const MAX_KEY_BYTES = 16 * 1024;

/** Reads a JWK file; nothing of it is ever quoted. */
export async function readJwk(io: Io, path: string): Promise<OpenObject> {
  if (/^\s*\{/.test(path)) {
    // Other users of the machine can read the arguments of a command.
    throw new SigError(
      "invalid_key",
      "Cannot use key: it must be the name of a file, not the key itself",
      {
        context: { hint: "Write it to a file of mode 0600, or use - (stdin)." },
      },
    );
  }
  const bytes = await readInput(io, path, MAX_KEY_BYTES);
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

/** The private JWK of a file; warns where others can read it. */
export async function readPrivateJwk(
  call: Output,
  path: string,
): Promise<OpenObject> {
  const { io } = call;
  const jwk = await readJwk(io, path);
  const mode = path === "-" ? null : await io.fileMode(path);
  if (mode !== null && (mode & 0o077) !== 0) {
    const shown = JSON.stringify(path);
    warn(
      call,
      `the private key ${shown} is open to others (mode ${
        mode.toString(8)
      }): ` +
        `chmod 600 ${shown}`,
    );
  }
  return jwk;
}

/** The private key of a file. */
export async function readSigningKey(
  call: Output,
  path: string,
): Promise<SigningKey> {
  const { importSigningKey } = await import("@sig/jose");
  return await importSigningKey(await readPrivateJwk(call, path));
}

/** Whether {@linkcode keyStoreDir} knows a folder. */
export function hasKeyStore({ env }: Io): boolean {
  return env("SIG_KEYS_DIR") !== undefined ||
    dataFolder(env).folder !== undefined;
}

/**
 * `SIG_KEYS_DIR`, else a folder of the user's data directory.
 *
 * @throws {SigError} `invalid_request` where there is none.
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
