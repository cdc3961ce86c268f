/** Documents from an issuer's directory; the only file that touches disk. @module */

import {
  localError,
  localFailure,
  type LocalPlace,
  toLocalError,
} from "./local_error.ts";
import { parseLocalPath, refused } from "./local_path.ts";
import {
  type DocumentReader,
  type OpenOptions,
  tooLargeCode,
} from "./reader.ts";

/** Large enough that the calls don't show, small enough to stay in a cache. */
const CHUNK_BYTES = 256 * 1024;

/** Where an issuer's files lie. */
export interface LocalSource {
  /** Whether the path is the issuer's directory or its `sig.json`. */
  readonly kind: "directory" | "file";
  /** A path of the operating system. */
  readonly path: string;
}

/** A reader that knows where the metadata is. */
export interface LocalReader extends DocumentReader {
  /** Always `local`. */
  readonly kind: "local";
  /** What to `open` as `metadata`. */
  readonly metadataRef: string;
}

/**
 * Makes a reader of an issuer's directory (the folder that holds `.well-known`)
 * or of one `sig.json`. References are read by their path inside the directory,
 * their host is not used; nothing is fetched. A `sig.json` that lies in no
 * `.well-known` counts as lying at the top of its directory. (PROTOCOL §1)
 *
 * A file is read as far as it reached when it was opened, so that an append
 * meanwhile does not show as half a line.
 *
 * @throws {SigError} from `open`: `source_not_found` with `context.reason`
 * `missing`, `permission_denied`, `not_a_file` or `unreadable`;
 * `invalid_metadata` for a path or symbolic link that leaves the directory;
 * `document_too_large`, `feed_too_large`.
 * @throws {TypeError} from `open`, in a runtime without Deno's file functions.
 */
export function createLocalReader(source: LocalSource): LocalReader {
  const { folder, name } = splitPath(source);
  const metadataRef = name === undefined
    ? "/.well-known/sig.json"
    : `/${encodeURIComponent(name)}`;
  return {
    kind: "local",
    metadataRef,
    async open(ref, options) {
      if (!("Deno" in globalThis)) {
        throw new TypeError("Cannot read local sources: this needs Deno");
      }
      const isNamed = name !== undefined && ref === metadataRef;
      const asked = isNamed
        ? { path: source.path }
        : { path: source.path, ref };
      try {
        const place = await locate(folder, name !== undefined);
        const path = isNamed
          ? place.folder + name
          : place.top + parseLocalPath(ref).join("/");
        const real = await realInside(place.top, path, ref);
        const { file, size } = await openFile(real, asked, options);
        const close = closeOnce(file);
        return {
          bytes: readChunks(file, size, asked, close),
          mediaType: null,
          etag: null,
          cancel: close,
        };
      } catch (error) {
        throw toLocalError(error, asked);
      }
    },
  };
}

function splitPath({ kind, path }: LocalSource) {
  if (kind === "directory") return { folder: path };
  const slash = path.search(/[/\\][^/\\]*$/);
  // "/sig.json" lies in "/", "sig.json" in ".".
  return {
    folder: slash < 0 ? "." : path.slice(0, slash + 1),
    name: path.slice(slash + 1),
  };
}

/** The real folder, and the directory that references start from; both end in "/". */
async function locate(given: string, isOfFile: boolean) {
  const folder = asPrefix(await Deno.realPath(given));
  const isWellKnown = isOfFile && folder.endsWith("/.well-known/");
  const top = isWellKnown ? folder.slice(0, -".well-known/".length) : folder;
  return { folder, top };
}

/** With the separators of URLs, which Windows takes as well. */
function asPrefix(path: string): string {
  const slashed = withSlashes(path);
  return slashed.endsWith("/") ? slashed : `${slashed}/`;
}

function withSlashes(path: string): string {
  return Deno.build.os === "windows" ? path.replaceAll("\\", "/") : path;
}

/** The real path, if it lies inside the directory: links can lead anywhere. */
async function realInside(
  top: string,
  path: string,
  ref: string,
): Promise<string> {
  const real = await Deno.realPath(path);
  if (!withSlashes(real).startsWith(top)) {
    throw refused(ref, "a symbolic link leaves the issuer's directory");
  }
  return real;
}

async function openFile(
  path: string,
  asked: LocalPlace,
  { name, maxBytes }: OpenOptions,
) {
  // Asked before opening: a FIFO would block until somebody writes to it.
  const { isFile } = await Deno.stat(path);
  if (!isFile) throw localFailure(asked, "not_a_file");
  const file = await Deno.open(path, { read: true });
  try {
    const opened = await file.stat();
    if (!opened.isFile) throw localFailure(asked, "not_a_file");
    if (opened.size > maxBytes) {
      const why = `it is larger than ${maxBytes} bytes`;
      throw localError(tooLargeCode(name), asked, why, { limit: maxBytes });
    }
    return { file, size: opened.size };
  } catch (error) {
    file.close();
    throw error;
  }
}

async function* readChunks(
  file: Deno.FsFile,
  size: number,
  asked: LocalPlace,
  close: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    for (let left = size; left > 0;) {
      const chunk = new Uint8Array(Math.min(left, CHUNK_BYTES));
      const length = await file.read(chunk);
      if (length === null) return;
      left -= length;
      yield chunk.subarray(0, length);
    }
  } catch (error) {
    throw toLocalError(error, asked);
  } finally {
    close();
  }
}

function closeOnce(file: Deno.FsFile): () => void {
  let isOpen = true;
  return () => {
    if (isOpen) file.close();
    isOpen = false;
  };
}
