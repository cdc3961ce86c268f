/** The explorer: a feed, verified here, and what it says. @module */

import { useEffect, useMemo, useState } from "preact/hooks";
import { fetchDocuments, readFiles } from "../feed/documents.ts";
import type { Route } from "../parts/route.ts";
import type { Site } from "../site/site.ts";
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

/** Which feed, its verdict, and three ways to look at it. */
export function ExploreView({ site, route }: {
  readonly site: Site;
  readonly route: Extract<Route, { view: "explore" }>;
}) {
  const { config } = site;
  const [own, setOwn] = useState<FeedSource | undefined>();
  const [isOver, setIsOver] = useState(false);
  /** Counts how often a person asked for what is published now. */
  const [round, setRound] = useState(0);
  // Without a choice it is the server's first one.
  const issuer = own === undefined
    ? config.issuers[route.issuer ?? 0] && (route.issuer ?? 0)
    : undefined;
  const known = issuer === undefined ? undefined : config.issuers[issuer];
  const hosted = useMemo<FeedSource | undefined>(
    () =>
      known && {
        read: () => fetchDocuments(known.base),
        expectedIssuer: known.did,
      },
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
        config={config}
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
          hosted={own === undefined}
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
