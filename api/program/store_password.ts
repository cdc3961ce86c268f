/** Reads the password of a store in Redis. @module */

import { usageError } from "./flag.ts";
import { decodeSecretLine } from "./files.ts";
import type { ProcessIo } from "./io.ts";

/** The environment variable that may contain the password. */
const VARIABLE = "SIG_REDIS_PASSWORD";
const MAX_PASSWORD_BYTES = 4096;

/** Where a program's password of a store may be. */
export interface StoreFlags {
  /** The flag that names the store, such as `--pins`. */
  readonly flag: string;
  /** Its value. */
  readonly store: string;
  /** The flag that names a file with the password (default: none). */
  readonly fileFlag?: string;
  /** Its value. */
  readonly file?: string | undefined;
}

/** A password, with warnings if other users of the machine can see it. */
export interface StorePassword {
  /** The password; undefined if the URL contains it or none is needed. */
  readonly password: string | undefined;
  /** Warnings to print at the start. */
  readonly warnings: readonly string[];
}

/**
 * Reads the password of a Redis store from a file, else from
 * `SIG_REDIS_PASSWORD`. A password in the URL works too, with a warning: every
 * user of the machine can read the arguments of a process, and logs often
 * contain them. No error shows any part of the password.
 *
 * @throws {SigError} `invalid_request`, `source_not_found`,
 * `document_too_large`.
 */
export async function readStorePassword(
  { flag, store, fileFlag = "", file }: StoreFlags,
  io: Pick<ProcessIo, "readFile" | "env">,
): Promise<StorePassword> {
  const wrong = (why: string, hint?: string) =>
    usageError(why, { flag: fileFlag, ...(hint ? { hint } : {}) });
  if (!/^rediss?:/.test(store)) {
    if (file === undefined) return { password: undefined, warnings: [] };
    throw wrong(`${fileFlag} is for ${flag} redis://…`);
  }
  // A dynamic import, so that --help does not load the stores.
  const { parseRedisUrl } = await import("@sig/consumer/store");
  if (parseRedisUrl(store).password !== undefined) {
    if (file === undefined) {
      const use = fileFlag === "" ? VARIABLE : `${fileFlag} or ${VARIABLE}`;
      const warning =
        `the password in ${flag} is visible to every user of this machine; use ${use}`;
      return { password: undefined, warnings: [warning] };
    }
    throw wrong(
      `${flag} has a password already`,
      "Take it out of the URL: redis://user@host.",
    );
  }
  if (file === undefined) {
    return { password: io.env(VARIABLE) || undefined, warnings: [] };
  }
  const password = decodeSecretLine(
    await io.readFile(file, MAX_PASSWORD_BYTES),
  );
  if (password !== undefined) return { password, warnings: [] };
  throw wrong("the password must be one line of text");
}
