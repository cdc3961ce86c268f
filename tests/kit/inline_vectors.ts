/** Feeds of the test vectors as values, and their options. @module */

import type { FeedPolicy, InlineFeed } from "@sig/consumer";
import { DOCUMENT_PATHS, type FeedVector } from "./vectors.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Returns the case as values; undefined where values can't represent the files:
 * text that is not UTF-8, or JSON that a request can't contain.
 */
export function toInlineFeed(
  { documents, name }: FeedVector,
): InlineFeed | undefined {
  const read = (path: string) => {
    const bytes = documents.get(path);
    return bytes && utf8.decode(bytes);
  };
  const parse = (text: string | undefined) =>
    text === undefined ? undefined : JSON.parse(text);
  if (name.endsWith("-duplicate-member")) {
    if (!/^(?:line|header|payload)-/.test(name)) return undefined;
  }
  try {
    const events = read(DOCUMENT_PATHS.feed);
    const jwks = parse(read(DOCUMENT_PATHS.jwks));
    if (events === undefined || jwks === undefined) return undefined;
    return {
      metadata: parse(read(DOCUMENT_PATHS.metadata)),
      jwks,
      did_document: parse(read(DOCUMENT_PATHS.did)),
      events,
    };
  } catch {
    return undefined;
  }
}

/** Returns the options of a case. */
export function policyOf({ expected }: FeedVector): FeedPolicy {
  return {
    unknownEvents: expected.options?.unknown_events,
    unmatchedRevoke: expected.options?.unmatched_revoke,
  };
}
