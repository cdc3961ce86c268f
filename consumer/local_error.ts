/** The errors of reading an issuer's directory. @module */

import { isSigError, quote, SigError } from "@sig/core";

/** Why a local document could not be had: `context.reason`. */
export type LocalFailure =
  | "missing"
  | "permission_denied"
  | "not_a_file"
  | "unreadable";

const WHY: Readonly<Record<LocalFailure, string>> = {
  missing: "there is no such file",
  permission_denied: "it may not be read",
  not_a_file: "it is not a regular file",
  unreadable: "reading it failed",
};

/** `source_not_found` with its reason; only `missing` means absence. */
export function localFailure(
  shown: string,
  reason: LocalFailure,
  cause?: unknown,
): SigError {
  return new SigError(
    "source_not_found",
    `Cannot read ${quote(shown)}: ${WHY[reason]}`,
    {
      context: { path: shown.slice(0, 200), reason },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

/** A SigError as it is; the runtime's errors as {@linkcode localFailure}. */
export function toLocalError(error: unknown, shown: string): SigError {
  if (isSigError(error)) return error;
  switch (error instanceof Error ? error.name : "") {
    case "NotFound":
      return localFailure(shown, "missing", error);
    case "PermissionDenied":
    case "NotCapable":
      return localFailure(shown, "permission_denied", error);
    case "NotADirectory":
    case "IsADirectory":
      return localFailure(shown, "not_a_file", error);
    default:
      return localFailure(shown, "unreadable", error);
  }
}
