/** The explorer: a feed, verified here, and what it says. @module */

import { useEffect, useMemo, useState } from "preact/hooks";
import { type Documents, readFiles } from "../feed/documents.ts";
import type { Route } from "../parts/route.ts";
import { AskTab } from "./ask_tab.tsx";
import { EventsTab } from "./events_tab.tsx";
import type { OpenFeed } from "./open_feed.ts";
import { PeopleTab } from "./people_tab.tsx";
import { type ReadOwn, Sources } from "./sources.tsx";
import { readTab, type Tab, Tabs } from "./tabs.tsx";
import { type FeedSource, useVerification } from "./use_verification.ts";
import { Verdict } from "./verdict.tsx";

/** Where a person would have saved documents of their own. */
const OWN_SOURCE = "./issuer";

/** An issuer whose documents are at hand. */
export interface KnownIssuer {
  readonly did: string;
  readonly read: () => Promise<Documents>;
}

/** What the explorer is drawn of. */
export interface ExplorerProps {
  /** Offered by name; the first one is open without a choice. */
  readonly issuers: readonly KnownIssuer[];
  /** Who brought their documents, as half a sentence. */
  readonly broughtBy: string;
  readonly route: Extract<Route, { view: "explore" }>;
}

/** Which feed, its verdict, and three ways to look at it. */
export function Explorer({ issuers, broughtBy, route }: ExplorerProps) {
  const [own, setOwn] = useState<FeedSource | undefined>();
  const [isOver, setIsOver] = useState(false);
  /** Counts how often a person asked for what is published now. */
  const [round, setRound] = useState(0);
  const issuer = own === undefined
    ? issuers[route.issuer ?? 0] && (route.issuer ?? 0)
    : undefined;
  const known = issuer === undefined ? undefined : issuers[issuer];
  const hosted = useMemo<FeedSource | undefined>(
    () => known && { read: known.read, expectedIssuer: known.did },
    [known?.did, round],
  );
  const verification = useVerification(own ?? hosted);
  useEffect(() => {
    if (route.issuer !== undefined) setOwn(undefined);
  }, [route.issuer]);

  const openOwn = (read: ReadOwn) => {
    // The address must not name another feed than the one that is shown.
    if (route.issuer !== undefined) location.hash = "#/explore";
    setOwn({ read });
  };
  const openFiles = (files: readonly File[]) => openOwn(() => readFiles(files));
  const checked = verification?.at === "done"
    ? verification.checked
    : undefined;
  const feed = useMemo<OpenFeed | undefined>(() => {
    if (verification?.at !== "done") return undefined;
    const { state, events } = verification.checked;
    return state && {
      state,
      events,
      now: verification.now,
      source: known?.did ?? OWN_SOURCE,
      issuer,
    };
  }, [checked]);
  const tab = readTab(route.query);

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
        <p class="lede">
          Verified in this browser, signature by signature.
        </p>
      </header>
      <Sources
        issuers={issuers}
        issuer={issuer}
        onIssuer={(index) => {
          setOwn(undefined);
          location.hash = `#/explore/${index}`;
        }}
        onAgain={() => setRound(round + 1)}
        onFiles={openFiles}
        onOwn={openOwn}
      />
      {verification === undefined && (
        <p class="empty card">
          This server knows no issuer. Open the documents of one: sig.json,
          jwks.json, did.json and events.jsonl. Drop them anywhere here; they
          stay in this browser.
        </p>
      )}
      {verification && (
        <Verdict
          verification={verification}
          broughtBy={own === undefined ? broughtBy : undefined}
          takesFocus={own !== undefined}
        />
      )}
      {feed && (
        <div id="feed-views">
          <Tabs issuer={route.issuer} tab={tab} />
          <TabPanel
            // Another feed is looked at anew; the same one, read again, is not.
            key={issuer ?? `own ${feed.now.getTime()}`}
            tab={tab}
            feed={feed}
            query={route.query}
          />
        </div>
      )}
    </div>
  );
}

function TabPanel({ tab, feed, query }: {
  readonly tab: Tab;
  readonly feed: OpenFeed;
  readonly query: URLSearchParams;
}) {
  switch (tab) {
    case "people":
      return <PeopleTab feed={feed} />;
    case "events":
      return <EventsTab feed={feed} />;
    case "ask":
      return <AskTab feed={feed} query={query} />;
  }
}
