/** Errors of the file system as `SigError`. @module */

import { type ErrorCode, SigError } from "@sig/core";

/** Returns the error for a failed operation, without the system's text. */
export function diskError(
  code: ErrorCode,
  action: string,
  path: string,
  error: unknown,
): SigError {
  const system = systemCode(error);
  const why = REASONS[system] ?? "the system refused it";
  return new SigError(code, {
    action: `${action} ${JSON.stringify(path)}`,
    reason: `${why} (${system})`,
    context: { path, system_code: system },
    cause: error,
  });
}

const REASONS: { readonly [code: string]: string | undefined } = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would become too large",
  EIO: "the device reported an error",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ENOENT: "it does not exist",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "it is a directory",
  ELOOP: "it has too many symbolic links",
  NotCapable:
    "the program was not given permission (--allow-read, --allow-write)",
};

/** Errors for which the runtime gives only a number (Linux's). */
const NUMBERS: { readonly [number: string]: string | undefined } = {
  "5": "EIO",
  "27": "EFBIG",
  "122": "EDQUOT",
};

function systemCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  const number = /\(os error (\d+)\)/.exec(error.message)?.[1];
  return NUMBERS[number ?? ""] ?? error.name;
}
