/** Documents from an issuer's directory; the only file that touches disk. @module */

import {
  localError,
  localFailure,
  type LocalPlace,
  toLocalError,
} from "./local_error.ts";
import { parseLocalPath, refused } from "./local_path.ts";
import { type InsideFile, openInside } from "./open_inside.ts";
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
 * `.well-known` counts as lying at the top of its directory. (docs/protocol.md §1)
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
        const file = openFile(place.top, path, { asked, ref }, options);
        const close = () => file.close();
        return {
          bytes: readChunks(file, asked),
          length: file.size,
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

/** The real folder, and the directory that references start from. */
async function locate(given: string, isOfFile: boolean) {
  const folder = asPrefix(await Deno.realPath(given));
  const isWellKnown = isOfFile && folder.endsWith("/.well-known/");
  const top = isWellKnown ? folder.slice(0, -".well-known/".length) : folder;
  return { folder, top };
}

/** With the separators of URLs, which Windows takes as well; ends in one. */
function asPrefix(path: string): string {
  const slashed = Deno.build.os === "windows"
    ? path.replaceAll("\\", "/")
    : path;
  return slashed.endsWith("/") ? slashed : `${slashed}/`;
}

interface Asked {
  readonly asked: LocalPlace;
  readonly ref: string;
}

function openFile(
  top: string,
  path: string,
  { asked, ref }: Asked,
  { name, maxBytes }: OpenOptions,
): InsideFile {
  const file = openInside(top, path);
  if (file === "outside") {
    throw refused(ref, "a symbolic link leaves the issuer's directory");
  }
  if (file === "not_a_file") throw localFailure(asked, "not_a_file");
  if (file === "exchanged") throw localFailure(asked, "unreadable");
  if (file.size <= maxBytes) return file;
  file.close();
  const why = `it is larger than ${maxBytes} bytes`;
  throw localError(tooLargeCode(name), asked, why, { limit: maxBytes });
}

async function* readChunks(
  file: InsideFile,
  asked: LocalPlace,
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
    throw toLocalError(error, asked);
  } finally {
    file.close();
  }
}
