/** From a URL of the metadata to a file of the issuer's directory. @module */

import { SigError } from "@sig/core";

/**
 * The path below the published root that a URL of `sig.json` means; its host is
 * not looked at (PROTOCOL §1).
 *
 * @throws {SigError} `invalid_metadata` for a path that could leave the root or
 * name our private folder.
 */
export function publishedPath(member: string, uri: string): string {
  // `URL` resolves "..", plain or encoded; only what decodes to a slash is left.
  const segments = new URL(uri).pathname.split("/").slice(1).map(decode);
  const plain = segments.every((segment) =>
    segment !== undefined && segment !== "" && segment !== "." &&
    segment !== ".." && !/[/\\\0]/.test(segment)
  );
  if (plain && segments[0] !== ".sig") return `/${segments.join("/")}`;
  throw new SigError(
    "invalid_metadata",
    `Cannot open issuer: ${member} must name a file inside the issuer's directory`,
    { context: { pointer: `/${member}` } },
  );
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
