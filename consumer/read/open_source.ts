/** From a source to the place where its documents are. @module */

import { didWebOf, WELL_KNOWN_PATHS, wellKnownUrls } from "@sig/core";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { createInlineReader, type InlineFeed } from "./inline_reader.ts";
import type { IssuerLocation } from "./reader.ts";
import { createLocalReader } from "./local_reader.ts";
import { createRemoteReader } from "./remote_reader.ts";
import type { Source } from "./source.ts";

/**
 * Where a source's documents are, and which issuer its origin proves. Nothing
 * is read yet. (docs/protocol.md §1: the origin decides who speaks)
 *
 * @example
 * ```ts
 * import { openSource, parseSource } from "@sig/consumer";
 * import { assertEquals } from "@std/assert";
 *
 * const location = openSource(parseSource("acme.example"));
 * assertEquals(location.expectedIssuer, "did:web:acme.example");
 * ```
 *
 * @throws {SigError} `invalid_identifier`, `address_not_allowed`.
 */
export function openSource(
  source: Source,
  policy: FetchPolicy = {},
): IssuerLocation {
  if (source.kind === "directory" || source.kind === "file") {
    const reader = createLocalReader(source);
    return { reader, metadataRef: reader.metadataRef };
  }
  const reader = createRemoteReader(policy);
  if (source.kind === "url") {
    const url = new URL(source.url);
    // It is never sent: with it one document would have many references.
    url.hash = "";
    return { reader, metadataRef: url.href, expectedIssuer: didWebOf(url) };
  }
  const allowPrivate = policy.allowPrivate ?? false;
  return {
    reader,
    metadataRef: wellKnownUrls(source.did, { allowPrivate }).metadata,
    expectedIssuer: source.did,
  };
}

/** A feed that is at hand as values; it proves no origin. */
export function openInlineFeed(feed: InlineFeed): IssuerLocation {
  return {
    reader: createInlineReader(feed),
    metadataRef: WELL_KNOWN_PATHS.metadata,
  };
}
