/** An issuer: counts, its people, and its changes. @module */

import { useMemo } from "preact/hooks";
import { exploreLink } from "../route.ts";
import { counted, shortened, typeLabel, visibleText } from "../text.ts";
import { lastDay, Time } from "../time.tsx";
import {
  Changes,
  linkTo,
  nameOf,
  Rows,
  StatusBadge,
  type ViewProps,
} from "./elements.tsx";
import type { Ledger, Person } from "./ledger.ts";

const LATEST = 8;

/** The counts that also filter, by their value in the URL. */
const FILTERS: Readonly<
  Record<string, readonly [string, (person: Person) => boolean]>
> = {
  active: ["active", ({ status }) => status === "active"],
  ending: ["ending within 30 days", ({ isEnding }) => isEnding],
  not_yet: ["not yet", ({ status }) => status === "not_yet_valid"],
  ended: [
    "ended",
    ({ status }) => status === "revoked" || status === "expired",
  ],
};

/** Counts, people, and the latest changes. */
export function IssuerView({ ledger, place }: ViewProps) {
  const { people, known } = ledger;
  const find = place.query.get("find") ?? "";
  const chosen = place.query.get("status") ?? "";
  const shown = useMemo(() => {
    const wanted = find.trim().toLowerCase();
    const matches = FILTERS[chosen]?.[1] ?? (() => true);
    return people.filter((each) =>
      matches(each) && each.searched.includes(wanted)
    );
  }, [people, find, chosen]);
  const latest = useMemo(() => known.slice(-LATEST).reverse(), [known]);
  return (
    <div class="issuer-view">
      <section class="people">
        <div class="counts">
          <h2>People</h2>
          {Object.entries(FILTERS).map(([value, [text, matches]]) => {
            const count = people.filter(matches).length;
            const isChosen = value === chosen;
            const query = new URLSearchParams(place.query);
            if (isChosen) query.delete("status");
            else query.set("status", value);
            return (count > 0 || isChosen) && (
              <a
                key={value}
                class="count"
                href={exploreLink({ ...place, query })}
                aria-current={isChosen ? "true" : undefined}
                title={isChosen ? "Show all people" : undefined}
              >
                {count.toLocaleString("en")} {text}
                {isChosen && " ×"}
              </a>
            );
          })}
          <Count shown={shown} all={people} noun="person" />
        </div>
        {shown.length === 0
          ? (
            <p class="empty">
              {people.length > 0
                ? "Nobody matches. "
                : known.length === 0
                ? "This feed has no people at this time."
                : "Nobody has a relationship at this time."}
              {people.length > 0 && (
                <a class="button" href={linkTo(ledger, "issuer")}>Show all</a>
              )}
            </p>
          )
          : (
            <Rows<Person>
              id="people"
              items={shown}
              keyOf={({ root }) => root}
              row={(person) => <PersonRow ledger={ledger} person={person} />}
            />
          )}
      </section>
      <section class="latest">
        <h2>Latest changes</h2>
        <Changes id="latest" ledger={ledger} of={latest} />
        <p>
          <a href={linkTo(ledger, "events")}>
            All {counted(known.length, "event")}
          </a>
        </p>
      </section>
    </div>
  );
}

/** The number of rows, and of how many. */
function Count({ shown, all, noun }: {
  readonly shown: readonly unknown[];
  readonly all: readonly unknown[];
  readonly noun: string;
}) {
  return (
    <span class="quiet" aria-live="polite">
      {shown.length !== all.length &&
        `${shown.length.toLocaleString("en")} of `}
      {counted(all.length, noun).replace("persons", "people")}
    </span>
  );
}

function PersonRow({ ledger, person }: { ledger: Ledger; person: Person }) {
  const { root, keys, name, position, held, status } = person;
  const [{ state }] = held as readonly [Person["held"][0]];
  const roles = new Set(
    held.filter((each) => each.status === status)
      .flatMap(({ state }) => state.roles),
  );
  const [word, instant] = {
    active: ["until ", state.valid_until],
    not_yet_valid: ["from ", state.valid_from],
    expired: ["", state.valid_until],
    revoked: ["", state.revoked_effective_at],
  }[status];
  const day = status === "active" && instant && lastDay(instant);
  return (
    <a class="row-link" href={linkTo(ledger, "person", root)}>
      <span class="row-title">
        <bdi>
          <strong>{nameOf(person, root)}</strong>
        </bdi>{" "}
        {position !== "" && (
          <bdi class="quiet wide-only">{visibleText(position)}</bdi>
        )}
      </span>
      <span class="row-what">
        {typeLabel(state.relationship_type)}{" "}
        <bdi class="quiet">
          {Array.from(roles, (role) => visibleText(role)).join(", ")}
        </bdi>{" "}
        {keys.length > 1 && (
          <span class="quiet">{counted(keys.length, "key")}</span>
        )} {name !== "" && <code>{shortened(root)}</code>}
      </span>
      <span class="row-end">
        {instant && (
          <span class="quiet">
            {day ? `through ${day}` : (
              <>
                {word}
                <Time instant={instant} isShort />
              </>
            )}
          </span>
        )} <StatusBadge status={status} />
      </span>
    </a>
  );
}

/** All events that were known at the clock's moment, newest first. */
export function EventsView({ ledger, place }: ViewProps) {
  const find = place.query.get("find") ?? "";
  const newest = useMemo(() => ledger.known.toReversed(), [ledger]);
  const shown = useMemo(() => {
    const wanted = find.trim().toLowerCase();
    if (wanted === "") return newest;
    return newest.filter(({ name, what, gained, lost, verified: { event } }) =>
      [
        ...[name, what, event.subject, event.relationship_id],
        ...[...gained, ...lost],
      ].join("\n").toLowerCase().includes(wanted)
    );
  }, [newest, find]);
  return (
    <section>
      <div class="counts">
        <h2 tabIndex={-1}>Events</h2>
        <Count shown={shown} all={newest} noun="event" />
      </div>
      <Changes id="events" ledger={ledger} of={shown} />
    </section>
  );
}
