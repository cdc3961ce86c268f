/**
 * The explorer: an issuer, its people, events and answers, each with an
 * address. The feed is verified in the browser.
 *
 * @module
 */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import { usePage } from "../api.ts";
import { Alert, Badge, Button, focusOn, OpenFiles } from "../elements.tsx";
import {
  clockQuery,
  exploreLink,
  OWN_FILES,
  type Place,
  replacePlace,
} from "../route.ts";
import { counted, hostOf, visibleText } from "../text.ts";
import { ClockControl, readClock } from "./clock.tsx";
import { linkTo, type ViewProps } from "./elements.tsx";
import { EventView } from "./event_view.tsx";
import { Evidence } from "./evidence.tsx";
import { IntegrityView, Unopened } from "./integrity.tsx";
import { EventsView, IssuerView } from "./issuer_view.tsx";
import { type Ledger, nearest, readChanges, readLedger } from "./ledger.ts";
import { PersonView, subjectOf } from "./person_view.tsx";
import type { FeedView } from "./use_feed.ts";

/** The bar, the search box, and the object that the address names. */
export function Explorer({ view, place }: {
  readonly view: FeedView;
  readonly place: Place;
}) {
  const { issuers } = usePage().config;
  const { known, opened, evidence, openFiles } = view;
  const feed = opened?.at === "open" ? opened.feed : undefined;
  const { object, id } = place;
  const changes = useMemo(() => feed && readChanges(feed.events), [feed]);
  const clock = readClock(place);
  const ledger = useMemo(() => feed && readLedger(feed, changes ?? [], clock), [
    feed,
    clock.at,
    clock.asOf,
  ]);
  const did = feed?.report.issuer ?? known?.did;
  const name = did ? hostOf(did) : "Explore a feed";
  const View = VIEWS[object];
  const main = useRef<HTMLDivElement>(null);
  /** Not the first object, which the frame announces. */
  const wasShown = useRef(false);
  useEffect(() => {
    if (feed === undefined) return;
    const heading = main.current?.querySelector<HTMLElement>("h2[tabindex]");
    const title = object === "issuer" ? "" : heading?.textContent ?? "";
    document.title = [title, name, "SIG"].filter(Boolean).join(" · ");
    if (wasShown.current && heading && object !== "answer") focusOn(heading);
    wasShown.current = true;
  }, [feed, object, id]);
  return (
    <div
      class="explore"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void openFiles([...event.dataTransfer?.files ?? []]);
      }}
    >
      <header class="ledger-bar">
        <h1 tabIndex={-1}>
          <a href={exploreLink({ source: feed?.source ?? place.source })}>
            {name}
          </a>
        </h1>
        {ledger && <Origin ledger={ledger} />}
        {ledger && evidence === undefined && (
          <ClockControl place={place} clock={clock} feed={ledger.feed} />
        )}
      </header>
      <div class="search no-print">
        {issuers.length > 1 && (
          <select
            id="issuer"
            aria-label="Issuer"
            value={known ? hostOf(known.did) : ""}
            onChange={({ currentTarget: { value: source } }) =>
              location.hash = exploreLink({ source })}
          >
            {known === undefined && <option value="">Your own files</option>}
            {issuers.map(({ did }) => (
              <option key={did} value={hostOf(did)}>{hostOf(did)}</option>
            ))}
          </select>
        )}
        <Search
          place={place}
          onText={view.openText}
          find={(text) => interpret(text, issuers, ledger)}
        />
        {known && <Button onClick={view.reload}>Reload</Button>}
        <OpenFiles
          id="files"
          hint="sig.json, jwks.json, did.json if there is one, and events.jsonl; or one JSON file that contains all four; or an evidence file. They stay in this browser."
          onFiles={(files) => void openFiles(files)}
        />
      </div>
      <div ref={main} class="stack">
        {evidence
          ? <Evidence key={evidence} bytes={evidence} />
          : ledger
          ? ledger.fault === undefined
            // Another person begins with a new form.
            ? <View key={subjectOf(place)} ledger={ledger} place={place} />
            : (
              <Alert kind="warning" title="No such moment">
                <p>{visibleText(ledger.fault)}</p>
              </Alert>
            )
          : (
            <section id="verdict" aria-live="polite">
              {opened === undefined
                ? <NoFeed place={place} hasIssuers={issuers.length > 0} />
                : <Unopened opened={opened} autoFocus={known === undefined} />}
            </section>
          )}
      </div>
    </div>
  );
}

/** Where the documents came from, and that they are valid. */
function Origin({ ledger }: { readonly ledger: Ledger }) {
  const { feed: { isProven, report, events } } = ledger;
  const { warnings } = report;
  return (
    <p id="verdict" class="row" aria-live="polite">
      <Badge kind={isProven ? "success" : "warning"}>
        {isProven ? "Valid" : "Consistent, origin not proven"}
      </Badge>
      <span class="quiet">
        <span class="wide-only">
          {counted(events.length, "event")},{" "}
          {isProven ? `served by ${location.host}` : "your own files"},{" "}
        </span>
        <a href={linkTo(ledger, "integrity")}>
          {warnings.length === 0
            ? "keys and integrity"
            : counted(warnings.length, "warning")}
        </a>
      </span>
    </p>
  );
}

const VIEWS: Readonly<Record<Place["object"], ComponentType<ViewProps>>> = {
  issuer: IssuerView,
  events: EventsView,
  event: EventView,
  integrity: IntegrityView,
  person: PersonView,
  answer: PersonView,
};

/** What to do if nothing is open. */
function NoFeed({ place: { source }, hasIssuers }: {
  readonly place: Place;
  readonly hasIssuers: boolean;
}) {
  return source !== "" && source !== OWN_FILES
    ? (
      <Alert kind="warning" title="Unknown issuer">
        <p>
          This server does not serve{" "}
          <code>{visibleText(source)}</code>. Open its documents as files to see
          them here.
        </p>
        {hasIssuers && (
          <p>
            <a href={exploreLink()}>Show the server’s own issuer</a>
          </p>
        )}
      </Alert>
    )
    : (
      <p class="empty card">
        Open the documents of an issuer: sig.json, jwks.json, did.json and
        events.jsonl; or an evidence file. You can drop or paste them here. They
        stay in this browser, and every signature is verified in it.
      </p>
    );
}

/** The one box: a filter of the list, or the way to an object. */
function Search({ place, find, onText }: {
  readonly place: Place;
  /** Returns the link to what a text names, if it is not a filter. */
  readonly find: (text: string) => string | undefined;
  /** Receives pasted documents. */
  readonly onText: (text: string) => void;
}) {
  const filter = place.query.get("find") ?? "";
  const [text, setText] = useState(filter);
  useEffect(() => setText(filter), [filter, place.object, place.id]);
  const isList = place.object === "issuer" || place.object === "events";
  const apply = (text: string) => {
    const query = new URLSearchParams(place.query);
    for (const name of ["find", "subject", "require"]) query.delete(name);
    if (text.trim() !== "") query.set("find", text);
    const to = isList ? place : { ...place, object: "issuer" as const, id: "" };
    return exploreLink({ ...to, query });
  };
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        location.hash = find(text) ?? apply(text);
      }}
    >
      <input
        id="find"
        type="search"
        aria-label="Find"
        placeholder="Name, DID, role, #event; or paste documents, evidence or a link"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          // A list follows at once; an object stays until Enter.
          if (isList) replacePlace(apply(value));
        }}
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData("text") ?? "";
          if (!pasted.trimStart().startsWith("{")) return;
          event.preventDefault();
          onText(pasted);
        }}
      />
    </form>
  );
}

/**
 * Returns the link to what a text names: an address of this page, one of the
 * server's issuers, an event, a DID, or the only person who matches; undefined
 * if it is a filter.
 */
function interpret(
  text: string,
  issuers: readonly { readonly did: string }[],
  ledger: Ledger | undefined,
): string | undefined {
  const wanted = text.trim();
  const hash = URL.parse(wanted)?.hash ?? "";
  if (hash.startsWith("#/")) return hash;
  const issuer = issuers.find(({ did }) =>
    did === wanted || hostOf(did) === wanted.replace(/^https:\/\//, "")
  );
  if (issuer !== undefined) return exploreLink({ source: hostOf(issuer.did) });
  if (ledger === undefined) return undefined;
  const { feed: { source }, clock, people } = ledger;
  const at = (object: "event" | "person", id: string) =>
    exploreLink({ source, object, id, query: clockQuery(clock) });
  const event = /^#?(\d+)$/.exec(wanted)?.[1];
  if (event !== undefined) return at("event", event);
  if (wanted.startsWith("did:")) return at("person", wanted);
  const [only, other] = nearest(people, wanted);
  return only !== undefined && other === undefined
    ? at("person", only.root)
    : undefined;
}
