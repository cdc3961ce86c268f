/** The errors of reading an issuer's directory. @module */

import {
  type ErrorCode,
  type ErrorContext,
  isSigError,
  quote,
  SigError,
} from "@sig/core";

/** Why a local document could not be had: `context.reason`. */
export type LocalFailure =
  | "missing"
  | "permission_denied"
  | "not_a_file"
  | "unreadable";

const WHY: Readonly<Record<LocalFailure, string>> = {
  missing: "there is no such file",
  permission_denied: "the system does not let this user read it",
  not_a_file: "it is not a regular file",
  unreadable: "reading it failed",
};

/** What was to be read: a source, or a reference inside it. */
export interface LocalPlace {
  /** The source's own path. */
  readonly path: string;
  /** The reference, when it is not the source itself. */
  readonly ref?: string;
}

/** "Cannot read <what>: why", with the place in the context. */
export function localError(
  code: ErrorCode,
  { path, ref }: LocalPlace,
  why: string,
  context: ErrorContext = {},
  cause?: unknown,
): SigError {
  const what = ref === undefined
    ? quote(path)
    : `${quote(ref)} in ${quote(path)}`;
  return new SigError(code, `Cannot read ${what}: ${why}`, {
    context: {
      path: path.slice(0, 200),
      ...(ref === undefined ? {} : { ref: ref.slice(0, 200) }),
      ...context,
    },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** `source_not_found` with its reason; only `missing` means absence. */
export function localFailure(
  place: LocalPlace,
  reason: LocalFailure,
  cause?: unknown,
): SigError {
  const why = WHY[reason];
  return localError("source_not_found", place, why, { reason }, cause);
}

/** A SigError as it is; the runtime's errors as {@linkcode localFailure}. */
export function toLocalError(error: unknown, place: LocalPlace): SigError {
  if (isSigError(error)) return error;
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  switch (typeof code === "string" ? code : name) {
    case "ENOENT":
    case "NotFound":
      return localFailure(place, "missing", error);
    case "NotCapable":
      // Deno's own, not the system's: another flag mends it, no chmod.
      return localError(
        "source_not_found",
        place,
        "the program was not given permission to read it",
        {
          reason: "permission_denied",
          hint: `Run it with --allow-read=${place.path.slice(0, 200)}.`,
        },
        error,
      );
    case "EACCES":
    case "EPERM":
    case "PermissionDenied":
      return localFailure(place, "permission_denied", error);
    case "ENOTDIR":
    case "NotADirectory":
      return localError(
        "source_not_found",
        place,
        "a file is where a directory is expected",
        { reason: "not_a_file" },
        error,
      );
    case "EISDIR":
    case "IsADirectory":
      return localFailure(place, "not_a_file", error);
    default:
      return localFailure(place, "unreadable", error);
  }
}
