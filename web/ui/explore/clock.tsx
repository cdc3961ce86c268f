/**
 * The explorer's clock: one moment for every view, in the fragment of the URL.
 *
 * @module
 */

import { Icon } from "../elements.tsx";
import {
  type Clock,
  clockQuery,
  exploreLink,
  type Place,
  replacePlace,
} from "../route.ts";
import { visibleText } from "../text.ts";
import { Time } from "../time.tsx";
import type { OpenFeed } from "./documents.ts";

/** Reads the clock of a place; `as_of` precedes `at`. */
export function readClock({ query }: Place): Clock {
  const at = query.get("at");
  const asOf = query.get("as_of");
  return asOf !== null ? { asOf } : at !== null ? { at } : {};
}

/** Returns the event number of a clock that shows one. */
export function sequenceOf({ asOf = "" }: Clock): number | undefined {
  return /^\d+$/.test(asOf) ? Number(asOf) : undefined;
}

/** The clock in words. */
export function ClockText({ clock: { at, asOf } }: { readonly clock: Clock }) {
  if (at !== undefined) return <Time instant={at} />;
  if (asOf === undefined) return <>Now</>;
  if (sequenceOf({ asOf }) !== undefined) return <>Event #{asOf}</>;
  return (
    <>
      Known at <Time instant={asOf} />
    </>
  );
}

/** Shows and sets the clock; amber unless it is now. */
export function ClockControl({ place, clock, feed }: {
  readonly place: Place;
  readonly clock: Clock;
  readonly feed: OpenFeed;
}) {
  const { at = "", asOf = "" } = clock;
  const { last_sequence: last } = feed.state;
  const known = sequenceOf(clock) ?? last;
  const event = feed.events[known - 1]?.event;
  const set = (changed: Clock) => {
    const query = new URLSearchParams(place.query);
    query.delete("at");
    query.delete("as_of");
    for (const [name, value] of clockQuery(changed)) query.set(name, value);
    replacePlace(exploreLink({ ...place, query }));
  };
  const past = clock.at !== undefined || clock.asOf !== undefined;
  return (
    <div class="clock" data-kind={past ? "warning" : undefined}>
      <details>
        <summary id="clock">
          <Icon name="clock" />
          <ClockText clock={clock} />
        </summary>
        <div class="card clock-panel">
          <label>
            The day, at its start in UTC
            <input
              id="clock-date"
              type="date"
              max="9999-12-31"
              value={/^\d{4}-\d\d-\d\d/.exec(at)?.[0] ?? ""}
              onInput={({ currentTarget: { value } }) => {
                // A year is typed digit by digit, so it may be incomplete.
                if (value === "") set({});
                else if (value >= "1970") set({ at: `${value}T00:00:00Z` });
              }}
            />
          </label>
          <label>
            Or a time (RFC 3339)
            <input
              id="clock-time"
              type="text"
              autocomplete="off"
              placeholder="2026-02-28T09:00:00Z"
              value={at}
              onChange={({ currentTarget: { value } }) =>
                set(value.trim() === "" ? {} : { at: value.trim() })}
            />
          </label>
          <label>
            Or what was known at event{" "}
            <span class="digits">#{visibleText(asOf || String(last))}</span>
            <input
              id="clock-event"
              type="range"
              min="1"
              max={Math.max(1, last)}
              disabled={last < 2}
              aria-valuetext={`event ${known} of ${last}`}
              value={known}
              onInput={({ currentTarget: { value } }) =>
                set(Number(value) === last ? {} : { asOf: value })}
            />
          </label>
          {event && (
            <p class="quiet">
              Event #{event.sequence} was signed{" "}
              <Time instant={event.issued_at} />.
            </p>
          )}
        </div>
      </details>
      {past && (
        <button type="button" onClick={() => set({})}>Back to now</button>
      )}
    </div>
  );
}
