/** From a reference in the metadata to a path inside a directory. @module */

import { quote, SigError } from "@sig/core";

/** Scheme and authority of an absolute URL. */
const ORIGIN = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/\\?#]*/;

/**
 * The segments of a reference's path (an absolute URL, whose host is not used,
 * or a URL path), percent-decoded once and without dot segments. Taken from the
 * text as it stands, since a URL parser would hide a path that climbs out.
 * (docs/protocol.md §1)
 *
 * @throws {SigError} `invalid_metadata` for a path that climbs out of the
 * directory, ends in a folder or can't be a file name.
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
  // Windows takes both for a separator.
  for (const segment of decoded.split(/[/\\]/)) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") {
      segments.push(segment);
    } else if (segments.pop() === undefined) {
      throw refused(ref, "it leaves the issuer's directory");
    }
  }
  if (segments.length === 0) throw refused(ref, "it names no file");
  return segments;
}

/** The error of a reference that can't be followed inside the directory. */
export function refused(ref: string, why: string, cause?: unknown): SigError {
  return new SigError(
    "invalid_metadata",
    `Cannot read ${quote(ref)} from the issuer's directory: ${why}`,
    {
      context: { ref: ref.slice(0, 200) },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
