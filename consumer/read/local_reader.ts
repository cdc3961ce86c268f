/**
 * Reads documents from an issuer's directory (docs/protocol.md §1.4). @module
 */

import {
  type ErrorCode,
  type ErrorContext,
  isSigError,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { InsideFile } from "./open_inside.ts";
import {
  type DocumentReader,
  type IssuerLocation,
  tooLargeCode,
} from "./reader.ts";

/** Large enough for few system calls, small enough for a CPU cache. */
const CHUNK_BYTES = 256 * 1024;

/** A local issuer: its directory or its `sig.json`. */
export interface LocalSource {
  /** Whether `path` is the issuer's directory or its `sig.json`. */
  readonly kind: "directory" | "file";
  /** Path in the operating system's notation. */
  readonly path: string;
}

/**
 * Reads an issuer's directory (the folder that contains `.well-known`) or one
 * `sig.json`. References are read by their path inside the directory; their
 * host is ignored, and nothing is fetched. A `sig.json` outside a `.well-known`
 * folder is treated as if it were at the top of its directory.
 * (docs/protocol.md §1)
 *
 * A file is read up to its size when it was opened, so that a concurrent append
 * does not show as an incomplete line.
 *
 * @throws {SigError} from the reader: `source_not_found` with `context.reason`
 * `missing`, `permission_denied`, `not_a_file` or `unreadable`;
 * `invalid_metadata` for a path or symbolic link that leaves the directory;
 * `document_too_large`, `feed_too_large`.
 * @throws {TypeError} from the reader, in a runtime without Deno's file
 * functions.
 */
export function locateLocal(source: LocalSource): IssuerLocation {
  const { folder, name } = splitPath(source);
  const metadataRef = name === undefined
    ? "/.well-known/sig.json"
    : `/${encodeURIComponent(name)}`;
  const open: DocumentReader["open"] = async (ref, options) => {
    if (!("Deno" in globalThis)) {
      throw new TypeError("Cannot read local sources: this needs Deno");
    }
    const isNamed = name !== undefined && ref === metadataRef;
    const requested = isNamed
      ? { path: source.path }
      : { path: source.path, ref };
    const { openInside } = await import("./open_inside.ts");
    try {
      const place = await locate(folder, name !== undefined);
      const path = isNamed
        ? place.folder + name
        : place.top + parseLocalPath(ref).join("/");
      const file = openInside(place.top, path);
      if (file === "outside") {
        throw refused(ref, "a symbolic link leaves the issuer's directory");
      }
      if (typeof file === "string") {
        throw localFailure(
          requested,
          file === "exchanged" ? UNREADABLE : NOT_A_FILE,
        );
      }
      const { size: length } = file;
      if (length > options.maxBytes) {
        file.close();
        const code = tooLargeCode(options.name);
        const why = `it is larger than ${options.maxBytes} bytes`;
        throw localError(code, requested, why, { limit: options.maxBytes });
      }
      const bytes = readChunks(file, requested);
      const cancel = () => file.close();
      return { bytes, length, mediaType: null, etag: null, cancel };
    } catch (error) {
      throw toLocalError(error, requested);
    }
  };
  return { reader: { kind: "local", open }, metadataRef };
}

function splitPath({ kind, path }: LocalSource) {
  if (kind === "directory") return { folder: path };
  const slash = path.search(/[/\\][^/\\]*$/);
  // The folder of "/sig.json" is "/", that of "sig.json" is ".".
  return {
    folder: slash < 0 ? "." : path.slice(0, slash + 1),
    name: path.slice(slash + 1),
  };
}

/** Returns the real folder, and the directory of all references. */
async function locate(given: string, isOfFile: boolean) {
  const folder = asPrefix(await Deno.realPath(given));
  const isWellKnown = isOfFile && folder.endsWith("/.well-known/");
  const top = isWellKnown ? folder.slice(0, -".well-known/".length) : folder;
  return { folder, top };
}

/**
 * With the separators of URLs, which Windows accepts too, and one at the end.
 */
function asPrefix(path: string): string {
  const slashed = Deno.build.os === "windows"
    ? path.replaceAll("\\", "/")
    : path;
  return slashed.endsWith("/") ? slashed : `${slashed}/`;
}

async function* readChunks(
  file: InsideFile,
  requested: LocalPlace,
): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < file.size;) {
      const chunk = new Uint8Array(Math.min(file.size - at, CHUNK_BYTES));
      const length = await file.read(chunk, at);
      if (length === 0) return;
      at += length;
      yield chunk.subarray(0, length);
    }
  } catch (error) {
    throw toLocalError(error, requested);
  } finally {
    file.close();
  }
}

/** Why a local document can't be read: `context.reason` and its text. */
type LocalFailure = readonly [
  reason: "missing" | "permission_denied" | "not_a_file" | "unreadable",
  why: string,
];

const MISSING: LocalFailure = ["missing", "there is no such file"];
const FORBIDDEN: LocalFailure = [
  "permission_denied",
  "the system does not let this user read it",
];
const NOT_A_FILE: LocalFailure = ["not_a_file", "it is not a regular file"];
const BELOW_A_FILE: LocalFailure = [
  "not_a_file",
  "a file is where a directory is expected",
];
const UNREADABLE: LocalFailure = ["unreadable", "reading it failed"];

/** The failures by the code or name of the runtime's error. */
const FAILURES: Readonly<Record<string, LocalFailure>> = {
  ENOENT: MISSING,
  NotFound: MISSING,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  PermissionDenied: FORBIDDEN,
  EISDIR: NOT_A_FILE,
  IsADirectory: NOT_A_FILE,
  ENOTDIR: BELOW_A_FILE,
  NotADirectory: BELOW_A_FILE,
};

interface LocalPlace {
  readonly path: string;
  readonly ref?: string;
}

/** "Cannot read <what>: why", with path and reference in the context. */
function localError(
  code: ErrorCode,
  { path, ref }: LocalPlace,
  why: string,
  context: ErrorContext = {},
  cause?: unknown,
): SigError {
  const what = ref === undefined
    ? quote(path)
    : `${quote(ref)} in ${quote(path)}`;
  return new SigError(code, {
    action: `read ${what}`,
    reason: why,
    context: {
      path: path.slice(0, 200),
      ...(ref === undefined ? {} : { ref: ref.slice(0, 200) }),
      ...context,
    },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Only `missing` means absence. */
function localFailure(
  place: LocalPlace,
  [reason, why]: LocalFailure,
  cause?: unknown,
): SigError {
  return localError("source_not_found", place, why, { reason }, cause);
}

/** Returns a SigError unchanged. */
function toLocalError(error: unknown, place: LocalPlace): SigError {
  if (isSigError(error)) return error;
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const failure = String(typeof code === "string" ? code : name);
  if (failure === "NotCapable") {
    // Deno itself refused: another permission flag helps, chmod does not.
    const why = "the program was not given permission to read it";
    return localError("source_not_found", place, why, {
      reason: "permission_denied",
      hint: `Run it with --allow-read=${place.path.slice(0, 200)}.`,
    }, error);
  }
  return localFailure(place, FAILURES[failure] ?? UNREADABLE, error);
}

/** Scheme and authority of an absolute URL. */
const ORIGIN = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/\\?#]*/;

/**
 * Returns the segments of a reference's path, percent-decoded once and without
 * dot segments. The reference is an absolute URL, whose host is ignored, or a
 * URL path. The text itself is parsed, because a URL parser would hide a path
 * that leaves the directory. (docs/protocol.md §1)
 *
 * @throws {SigError} `invalid_metadata` for a malformed path, one that leaves
 * the directory, or one without a file name.
 */
export function parseLocalPath(ref: string): readonly string[] {
  const path = ref.replace(ORIGIN, "").replace(/[?#].*$/s, "");
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch (cause) {
    throw refused(ref, "its percent-encoding is malformed", cause);
  }
  // deno-lint-ignore no-control-regex -- control characters are the point
  if (/[\u0000-\u001f\u007f]/.test(decoded)) {
    throw refused(ref, "it contains a control character");
  }
  const segments: string[] = [];
  // Windows accepts both as separators.
  for (const segment of decoded.split(/[/\\]/)) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") {
      segments.push(segment);
    } else if (segments.pop() === undefined) {
      throw refused(ref, "it leaves the issuer's directory");
    }
  }
  if (segments.length === 0) throw refused(ref, "it has no file name");
  return segments;
}

function refused(ref: string, why: string, cause?: unknown): SigError {
  return new SigError("invalid_metadata", {
    action: `read ${quote(ref)} from the issuer's directory`,
    reason: why,
    context: { ref: ref.slice(0, 200) },
    ...(cause === undefined ? {} : { cause }),
  });
}
