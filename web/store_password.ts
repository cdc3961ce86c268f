/** Reads the password of `--store redis://…`. @module */

import { usageError } from "@sig/api/flags";
import { decodeSecretLine } from "@sig/api/process";
import type { ServerIo } from "@sig/api/server";

/** The environment variable that may contain the password. */
export const PASSWORD_VARIABLE = "SIG_REDIS_PASSWORD";

const FILE_FLAG = "--store-password-file";
const MAX_PASSWORD_BYTES = 4096;

/** A password, with warnings if other users of the machine can see it. */
interface StorePassword {
  /**
   * The password; undefined where the URL contains it or the store needs none.
   */
  readonly password: string | undefined;
  /** Warnings to print at the start. */
  readonly warnings: readonly string[];
}

/**
 * Reads the password of a Redis store from `--store-password-file`, else from
 * `SIG_REDIS_PASSWORD`. A password in the URL works too, with a warning: every
 * user of the machine can read the arguments of a process, and logs often
 * contain them. No error shows any part of the password.
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
  // A dynamic import, so that --help does not load the stores.
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
