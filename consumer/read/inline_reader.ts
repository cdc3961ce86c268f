/** A feed that came in a request or a variable (docs/reference/http.md). @module */

import { SigError } from "@sig/core";
import { documentAtHand, type DocumentReader } from "./reader.ts";
import type { DocumentName } from "../fetch/media_type.ts";

/** An issuer's four documents as values. They prove no origin. */
export interface InlineFeed {
  /** `sig.json`, parsed. */
  readonly metadata: unknown;
  /** `jwks.json`, parsed. */
  readonly jwks: unknown;
  /** `did.json`, parsed; absent like a file that isn't there. */
  readonly did_document?: unknown;
  /** The feed as NDJSON text. */
  readonly events: string;
}

/** A reader over values instead of files. */
export function createInlineReader(feed: InlineFeed): DocumentReader {
  const texts: { readonly [name in DocumentName]: string | undefined } = {
    metadata: JSON.stringify(feed.metadata),
    jwks: JSON.stringify(feed.jwks),
    did_document: JSON.stringify(feed.did_document),
    feed: feed.events,
  };
  return {
    kind: "inline",
    open(_ref, { name }) {
      const text = texts[name];
      if (text === undefined) return Promise.reject(missing(name));
      const bytes = new TextEncoder().encode(text);
      return Promise.resolve(
        documentAtHand({ bytes, mediaType: null, etag: null }),
      );
    },
  };
}

function missing(name: DocumentName): SigError {
  return new SigError(
    "source_not_found",
    `Cannot read feed: it has no ${name}`,
    { context: { reason: "missing" } },
  );
}
