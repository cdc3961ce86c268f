/** The feed that is open in the explorer, kept while other views are shown. @module */

import type { InvalidReport } from "@sig/consumer";
import { MAX_EVIDENCE_BYTES } from "@sig/consumer/internal";
import { sameBytes } from "@sig/core/internal";
import { useEffect, useRef, useState } from "preact/hooks";
import { errorText } from "../api.ts";
import type { PageConfig } from "../page_config.ts";
import { exploreLink, OWN_FILES, type Route } from "../route.ts";
import { hostOf } from "../text.ts";
import {
  type Documents,
  fetchDocuments,
  type OpenFeed,
  readFiles,
  readJson,
  verifyDocuments,
} from "./documents.ts";
import { isEvidence } from "./evidence.tsx";

/** The folder to show in commands for a person's own documents. */
const OWN_FOLDER = "./issuer";

/** The state of the documents that the address names. */
export type Opened =
  /** The verified part, from 0 to 1; undefined while documents are read. */
  | { readonly at: "reading"; readonly share: number | undefined }
  /** Why they could not be verified. */
  | { readonly at: "failed"; readonly why: string }
  | { readonly at: "invalid"; readonly report: InvalidReport }
  | { readonly at: "open"; readonly feed: OpenFeed };

/** Documents that a person opened, or an evidence file. */
interface Own {
  readonly read?: () => Documents | Promise<Documents>;
  readonly evidence?: Uint8Array;
}

/** What is open, and the actions on it. */
export type FeedView = ReturnType<typeof useFeed>;

/**
 * Verifies the feed that the address names, once: it stays in memory when other
 * views or other objects are shown.
 */
export function useFeed({ issuers }: PageConfig, route: Route) {
  const [own, setOwn] = useState<Own | undefined>();
  const [reloads, setReloads] = useState(0);
  const [opened, setOpened] = useState<Opened | undefined>();
  const place = route.view === "explore" ? route.place : undefined;
  const [wanted, setWanted] = useState<string | undefined>();
  useEffect(() => {
    if (place !== undefined) setWanted(place.source);
  }, [place]);
  const source = wanted || (own === undefined ? "" : OWN_FILES);
  const isOwn = source === OWN_FILES;
  const known = wanted === undefined || isOwn
    ? undefined
    : source === ""
    ? issuers[0]
    : issuers.find(({ did }) => hostOf(did) === source || did === source);
  const { read, evidence }: Own = isOwn && own || {};
  /** The documents that are shown, and where they came from. */
  const held = useRef<{ from: unknown; documents?: Documents }>({ from: null });
  useEffect(() => {
    const from = known ?? read;
    if (held.current.from !== from) held.current = { from };
    const { current } = held;
    const abort = new AbortController();
    const show = (now: Opened) => {
      if (!abort.signal.aborted) setOpened(now);
    };
    const verify = async () => {
      const { documents: before } = current;
      if (before === undefined) show({ at: "reading", share: undefined });
      try {
        const documents = known
          ? await fetchDocuments(known.base)
          : await read!();
        // A reload that brings the same bytes keeps what was verified.
        if (before !== undefined && areSame(before, documents)) return;
        const verified = await verifyDocuments(documents, {
          issuer: known?.did,
          onProgress: (share) => show({ at: "reading", share }),
          signal: abort.signal,
        });
        current.documents = documents;
        show(
          "state" in verified
            ? {
              at: "open",
              feed: {
                ...verified,
                source: known ? hostOf(known.did) : OWN_FILES,
                commandSource: known?.did ?? OWN_FOLDER,
                isProven: known !== undefined,
                bytes: documents.feed,
              },
            }
            : { at: "invalid", report: verified },
        );
      } catch (error) {
        delete current.documents;
        const otherwise = "Something went wrong in this browser. Try again.";
        show({ at: "failed", why: errorText(error, otherwise) });
      }
    };
    if (from !== undefined) void verify();
    else setOpened(undefined);
    return () => abort.abort();
  }, [known, read, reloads]);
  const open = (bytes: Uint8Array, read: Own["read"] & object) => {
    setOwn(isEvidence(bytes) ? { evidence: bytes } : { read });
    location.hash = exploreLink({ source: OWN_FILES });
  };
  return {
    /** The issuer of the server that is shown, if it is one. */
    known,
    opened,
    evidence,
    reload: () => setReloads(reloads + 1),
    /** Opens a JSON text with all documents, or evidence. */
    openText(text: string) {
      const bytes = new TextEncoder().encode(text);
      open(bytes, () => readJson(bytes));
    },
    /** Opens documents or evidence as files. */
    async openFiles(files: readonly File[]) {
      const [file, other] = files;
      if (file === undefined) return;
      const isSmall = other === undefined && file.size <= MAX_EVIDENCE_BYTES;
      const bytes = isSmall ? await file.arrayBuffer() : new ArrayBuffer(0);
      open(new Uint8Array(bytes), () => readFiles(files));
    },
  };
}

function areSame(held: Documents, found: Documents): boolean {
  const names = Object.keys({ ...held, ...found }) as (keyof Documents)[];
  return names.every((name) => {
    const [a, b] = [held[name], found[name]];
    return a === b || a !== undefined && b !== undefined && sameBytes(a, b);
  });
}
