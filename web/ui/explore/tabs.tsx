/** The ways to look at a feed; each has an address. @module */

/** One of them. */
export type Tab = "people" | "events" | "ask";

const TABS: readonly { readonly tab: Tab; readonly title: string }[] = [
  { tab: "people", title: "People" },
  { tab: "events", title: "Events" },
  { tab: "ask", title: "Ask" },
];

/** The one that an address names; people unless told. */
export function readTab(query: URLSearchParams): Tab {
  return TABS.find(({ tab }) => tab === query.get("tab"))?.tab ?? "people";
}

/** Links between them. */
export function Tabs({ issuer, tab }: {
  readonly issuer: number | undefined;
  readonly tab: Tab;
}) {
  const base = `#/explore${issuer === undefined ? "" : `/${issuer}`}`;
  return (
    <nav class="tabs" aria-label="Of this feed">
      {TABS.map((each) => (
        <a
          key={each.tab}
          href={`${base}?tab=${each.tab}`}
          aria-current={each.tab === tab ? "page" : undefined}
        >
          {each.title}
        </a>
      ))}
    </nav>
  );
}
