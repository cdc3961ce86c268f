/** A feed on its way to its verdict. @module */

import { useEffect, useState } from "preact/hooks";
import { type CheckedFeed, checkFeed } from "../feed/check_feed.ts";
import { type Documents, DocumentsError } from "../feed/documents.ts";

/** Where documents come from. */
export interface FeedSource {
  /** Gets them. */
  readonly read: () => Documents | Promise<Documents>;
  /** The DID that they must be of, where it is known. */
  readonly expectedIssuer?: string;
}

/** How far it is. */
export type Verification =
  | { readonly at: "reading" }
  | {
    readonly at: "verifying";
    readonly bytes: number;
    /** From 0 to 1. */
    readonly share: number;
  }
  | { readonly at: "done"; readonly checked: CheckedFeed; readonly now: Date }
  | {
    /** It is not known whether the feed is valid. */
    readonly at: "none";
    readonly why: string;
  };

/** Reads and verifies whenever the source is another; the last one counts. */
export function useVerification(
  source: FeedSource | undefined,
): Verification | undefined {
  const [verification, setVerification] = useState<Verification | undefined>();
  useEffect(() => {
    if (source === undefined) {
      setVerification(undefined);
      return;
    }
    const abort = new AbortController();
    const tell = (news: Verification) => {
      if (!abort.signal.aborted) setVerification(news);
    };
    void (async () => {
      tell({ at: "reading" });
      try {
        const documents = await source.read();
        if (abort.signal.aborted) return;
        const bytes = documents.feed.length;
        tell({ at: "verifying", bytes, share: 0 });
        const checked = await checkFeed(documents, {
          expectedIssuer: source.expectedIssuer,
          onProgress: (share) => tell({ at: "verifying", bytes, share }),
          signal: abort.signal,
        });
        tell({ at: "done", checked, now: new Date() });
      } catch (error) {
        tell({
          at: "none",
          why: error instanceof DocumentsError
            ? error.message
            : "Something went wrong in this browser. Try again.",
        });
      }
    })();
    return () => abort.abort();
  }, [source]);
  return verification;
}
