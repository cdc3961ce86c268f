/** The feed that is open in the explorer, kept while other views are shown. @module */

import { MAX_EVIDENCE_BYTES } from "@sig/consumer/internal";
import { sameBytes } from "@sig/core/internal";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageConfig } from "../page_config.ts";
import { exploreLink, OWN_FILES, type Route } from "../route.ts";
import { hostOf } from "../text.ts";
import {
  type Documents,
  DocumentsError,
  fetchDocuments,
  type OpenFeed,
  readFiles,
  readJson,
  verifyDocuments,
} from "./documents.ts";
import { isEvidence } from "./evidence.tsx";
import type { Verification } from "./integrity.tsx";

/** The folder to show in commands for a person's own documents. */
const OWN_FOLDER = "./issuer";

/** Documents that a person opened, or an evidence file. */
interface Own {
  readonly read?: () => Documents | Promise<Documents>;
  readonly evidence?: Uint8Array;
}

/** What is open, and the actions on it. */
export type OpenedFeed = ReturnType<typeof useFeed>;

/**
 * Verifies the feed that the address names, once: it stays in memory when other
 * views or other objects are shown.
 */
export function useFeed({ issuers }: PageConfig, route: Route) {
  const [own, setOwn] = useState<Own | undefined>();
  const [reloads, setReloads] = useState(0);
  const place = route.view === "explore" ? route.place : undefined;
  const [wanted, setWanted] = useState<string | undefined>();
  useEffect(() => {
    if (place !== undefined) setWanted(place.source);
  }, [place]);
  const source = wanted || (own === undefined ? "" : OWN_FILES);
  const isOwn = source === OWN_FILES;
  // A number is the issuer's place in the list of the server.
  const known = wanted === undefined || isOwn
    ? undefined
    : source === ""
    ? issuers[0]
    : issuers.find(({ did }, i) =>
      hostOf(did) === source || did === source || String(i) === source
    );
  const [verification, setVerification] = useState<Verification | undefined>();
  const { read, evidence }: Own = isOwn && own || {};
  /** The issuer, or the person's documents, that were read last. */
  const last = useRef<unknown>(undefined);
  useEffect(() => {
    const isReload = last.current === (known ?? read);
    last.current = known ?? read;
    const abort = new AbortController();
    const show = (now: Verification | undefined) => {
      if (!abort.signal.aborted) setVerification(now);
    };
    const verify = async (read: () => Documents | Promise<Documents>) => {
      const held = isReload && verification && "documents" in verification
        ? verification.documents
        : undefined;
      if (held === undefined) show({ share: undefined });
      try {
        const documents = await read();
        // A reload that brings the same bytes keeps what was verified.
        if (held !== undefined && areSame(held, documents)) return;
        const verified = await verifyDocuments(documents, {
          issuer: known?.did,
          onProgress: (share) => show({ share }),
          signal: abort.signal,
        });
        show({ verified, documents });
      } catch (error) {
        const isKnown = error instanceof DocumentsError;
        const unknown = "Something went wrong in this browser. Try again.";
        show({ why: isKnown ? error.message : unknown });
      }
    };
    if (known !== undefined) void verify(() => fetchDocuments(known.base));
    else if (read !== undefined) void verify(read);
    else show(undefined);
    return () => abort.abort();
  }, [known, read, reloads]);
  const feed = useMemo<OpenFeed | undefined>(() => {
    if (verification === undefined || !("verified" in verification)) return;
    const { verified, documents } = verification;
    return verified.state && {
      ...verified,
      state: verified.state,
      source: known ? hostOf(known.did) : OWN_FILES,
      commandSource: known?.did ?? OWN_FOLDER,
      isProven: known !== undefined,
      bytes: documents.feed,
    };
  }, [verification]);
  const open = (bytes: Uint8Array, read: Own["read"] & object) => {
    setOwn(isEvidence(bytes) ? { evidence: bytes } : { read });
    location.hash = exploreLink({ source: OWN_FILES });
  };
  return {
    /** The issuer of the server that is shown, if it is one. */
    known,
    verification,
    feed,
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
