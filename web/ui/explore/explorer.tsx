/** The explorer: a feed, verified in the browser, and what it says. @module */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { PageConfig } from "../api.ts";
import type { Route } from "../route.ts";
import { Ask } from "./ask.tsx";
import {
  type Documents,
  DocumentsError,
  fetchDocuments,
  readFiles,
  readJson,
} from "./documents.ts";
import { Events } from "./events.tsx";
import { People } from "./people.tsx";
import { Sources } from "./sources.tsx";
import { Verdict, type Verification } from "./verdict.tsx";
import { type OpenFeed, verifyDocuments } from "./verify_documents.ts";

interface Source {
  readonly read: () => Documents | Promise<Documents>;
  /** The DID that the documents must be of, where it is known. */
  readonly issuer?: string;
}

/** Where a person would have saved their own documents. */
const OWN_SOURCE = "./issuer";

/** Choose a feed, see its verdict, its people and events, and ask questions. */
export function Explorer({ config: { issuers }, route }: {
  readonly config: PageConfig;
  readonly route: Extract<Route, { view: "explore" }>;
}) {
  const [own, setOwn] = useState<Source | undefined>();
  const [isOver, setIsOver] = useState(false);
  const [reloads, setReloads] = useState(0);
  const index = route.issuer ?? 0;
  const issuer = own === undefined && issuers[index] ? index : undefined;
  const known = issuer === undefined ? undefined : issuers[issuer];
  const hosted = useMemo<Source | undefined>(
    () =>
      known && { read: () => fetchDocuments(known.base), issuer: known.did },
    [known, reloads],
  );
  const { verification, readAt } = useVerification(own ?? hosted);
  useEffect(() => {
    if (route.issuer !== undefined) setOwn(undefined);
  }, [route.issuer]);

  const openOwn = (read: Source["read"]) => {
    // The address must not name another feed than the one that is shown.
    if (route.issuer !== undefined) location.hash = "#/explore";
    setOwn({ read });
  };
  const openFiles = (files: readonly File[]) => openOwn(() => readFiles(files));
  const feed = useMemo<OpenFeed | undefined>(() => {
    if (verification?.at !== "done") return undefined;
    const { state, events } = verification.verified;
    const source = known?.did ?? OWN_SOURCE;
    return state && { state, events, now: readAt, source, issuer };
  }, [verification]);
  return (
    <div
      class="explore"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        const files = [...event.dataTransfer?.files ?? []];
        if (files.length > 0) openFiles(files);
      }}
    >
      <header class="page-head">
        <h1 tabIndex={-1}>Explore a feed</h1>
        <p class="lede">Every signature is verified in this browser.</p>
      </header>
      <Sources
        issuers={issuers}
        issuer={issuer}
        onIssuer={(chosen) => {
          setOwn(undefined);
          location.hash = `#/explore/${chosen}`;
        }}
        onReload={() => setReloads(reloads + 1)}
        onFiles={openFiles}
        onText={(text) => openOwn(() => readJson(text))}
      />
      <section id="verdict" aria-live="polite">
        {verification === undefined
          ? (
            <p class="empty card">
              This server knows no issuer. Open the documents of one: sig.json,
              jwks.json, did.json and events.jsonl. You can drop them here. They
              stay in this browser.
            </p>
          )
          : (
            <Verdict
              verification={verification}
              origin={own === undefined
                ? "This server passed the documents on, so their origin is its word. The signatures are the issuer’s."
                : "These are your own documents. Only you know whether they are the issuer’s."}
              autoFocus={own !== undefined}
            />
          )}
      </section>
      {feed && (
        <div id="feed-views">
          <Tabs route={route} />
          <Tab
            // Another feed starts with empty filters; a reload keeps them.
            key={issuer ?? `own ${readAt.getTime()}`}
            feed={feed}
            query={route.query}
          />
        </div>
      )}
    </div>
  );
}

const TABS = [["people", "People"], ["events", "Events"], ["ask", "Ask"]];

function readTab(query: URLSearchParams): string {
  const tab = query.get("tab") ?? "";
  return TABS.some(([id]) => id === tab) ? tab : "people";
}

function Tabs({ route: { issuer, query } }: {
  readonly route: Extract<Route, { view: "explore" }>;
}) {
  const base = `#/explore${issuer === undefined ? "" : `/${issuer}`}`;
  const now = readTab(query);
  return (
    <nav class="tabs" aria-label="Of this feed">
      {TABS.map(([id, title]) => (
        <a
          key={id}
          href={`${base}?tab=${id}`}
          aria-current={id === now ? "page" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

function Tab({ feed, query }: {
  readonly feed: OpenFeed;
  readonly query: URLSearchParams;
}) {
  switch (readTab(query)) {
    case "events":
      return <Events feed={feed} />;
    case "ask":
      return <Ask feed={feed} query={query} />;
    default:
      return <People feed={feed} />;
  }
}

/** Verifies whenever the source changes; only the last one counts. */
function useVerification(source: Source | undefined) {
  const [{ verification, readAt }, set] = useState<{
    verification: Verification | undefined;
    readAt: Date;
  }>({ verification: undefined, readAt: new Date() });
  useEffect(() => {
    const abort = new AbortController();
    const show = (verification: Verification | undefined) => {
      if (!abort.signal.aborted) set({ verification, readAt: new Date() });
    };
    void (async () => {
      show(source && { at: "reading" });
      if (source === undefined) return;
      try {
        const documents = await source.read();
        const bytes = documents.feed.length;
        const verified = await verifyDocuments(documents, {
          issuer: source.issuer,
          onProgress: (share) => show({ at: "verifying", bytes, share }),
          signal: abort.signal,
        });
        show({ at: "done", verified });
      } catch (error) {
        show({
          at: "failed",
          why: error instanceof DocumentsError
            ? error.message
            : "Something went wrong in this browser. Try again.",
        });
      }
    })();
    return () => abort.abort();
  }, [source]);
  return { verification, readAt };
}
