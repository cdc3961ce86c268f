/** Where the password of `--store redis://…` comes from. @module */

import { usageError } from "@sig/api/flags";
import { decodeSecretLine } from "@sig/api/process";
import type { ServerIo } from "@sig/api/server";

/** The variable that may hold the password. */
export const PASSWORD_VARIABLE = "SIG_REDIS_PASSWORD";

const FILE_FLAG = "--store-password-file";
const MAX_PASSWORD_BYTES = 4096;

/** A password, and whether others on this machine can see it. */
interface StorePassword {
  /** To be used besides the URL; undefined where the URL has it, or none is. */
  readonly password: string | undefined;
  /** Printed for the operator at the start. */
  readonly warnings: readonly string[];
}

/**
 * Reads the password of a Redis store from `--store-password-file`, else from
 * `SIG_REDIS_PASSWORD`. One within the URL still works, with a warning: the
 * arguments of a process are there for every user of a machine to read, and
 * often in a log. No error shows any part of it.
 *
 * @throws {SigError} `invalid_request`, `source_not_found`,
 * `document_too_large`.
 */
export async function readStorePassword(
  { store, file }: {
    readonly store: string;
    readonly file?: string | undefined;
  },
  io: Pick<ServerIo, "readFile" | "env">,
): Promise<StorePassword> {
  if (!/^rediss?:/.test(store)) {
    if (file === undefined) return { password: undefined, warnings: [] };
    throw usageError(`${FILE_FLAG} is for --store redis://…`, {
      flag: FILE_FLAG,
    });
  }
  // Loaded here: help needs none of it.
  const { parseRedisUrl } = await import("@sig/consumer/store");
  if (parseRedisUrl(store).password !== undefined) {
    if (file === undefined) {
      return { password: undefined, warnings: [IN_ARGUMENTS] };
    }
    throw usageError("--store has a password already", {
      flag: FILE_FLAG,
      hint: "Take it out of the URL: redis://user@host.",
    });
  }
  const password = file === undefined
    ? io.env(PASSWORD_VARIABLE) || undefined
    : readPassword(await io.readFile(file, MAX_PASSWORD_BYTES));
  return { password, warnings: [] };
}

const IN_ARGUMENTS =
  `the password in --store is visible to every user of this machine; use ${FILE_FLAG} or ${PASSWORD_VARIABLE}`;

function readPassword(bytes: Uint8Array): string {
  const password = decodeSecretLine(bytes);
  if (password !== undefined) return password;
  throw usageError("the password must be one line of text", {
    flag: FILE_FLAG,
  });
}
