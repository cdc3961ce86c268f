/** When: what was true then, and what was known then. @module */

import { useEffect, useState } from "preact/hooks";
import { Time } from "../parts/time.tsx";
import type { AskingForm } from "./asking_form.ts";
import type { OpenFeed } from "./open_feed.ts";

/** A date to pick and a slider to move, each beside the text that it makes. */
export function AskTimes({ feed, form, onChange }: {
  readonly feed: OpenFeed;
  readonly form: AskingForm;
  readonly onChange: (form: AskingForm) => void;
}) {
  const isSet = form.at !== "" || form.asOf !== "";
  const [open, setOpen] = useState(isSet);
  useEffect(() => {
    // A link may set what is folded away.
    if (isSet) setOpen(true);
  }, [isSet]);
  const { last_sequence: last } = feed.state;
  const known = /^\d+$/.test(form.asOf) ? Number(form.asOf) : last;
  const event = feed.events[known - 1]?.event;
  return (
    <details
      class="more"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>At another time</summary>
      <fieldset>
        <legend>What was true at</legend>
        <div class="beside">
          <input
            type="datetime-local"
            step="1"
            aria-label="Date and time, UTC"
            value={toLocal(form.at)}
            onInput={({ currentTarget: { value } }) =>
              onChange({ ...form, at: toRfc3339(value) })}
          />
          <input
            id="ask-at"
            type="text"
            aria-label="The same as RFC 3339 text"
            placeholder="now"
            autocomplete="off"
            spellcheck={false}
            value={form.at}
            onInput={({ currentTarget: { value } }) =>
              onChange({ ...form, at: value })}
          />
        </div>
      </fieldset>
      <fieldset>
        <legend>What was known as of</legend>
        <div class="beside">
          <input
            id="as-of-slider"
            type="range"
            min="1"
            max={Math.max(1, last)}
            step="1"
            disabled={last < 2}
            aria-label="Event"
            aria-valuetext={`event ${known} of ${last}`}
            value={known}
            onInput={({ currentTarget: { value } }) =>
              onChange({ ...form, asOf: Number(value) === last ? "" : value })}
          />
          <input
            id="ask-as-of"
            type="text"
            aria-label="Number of an event, or RFC 3339 text"
            placeholder={`event ${last}, the last one`}
            autocomplete="off"
            spellcheck={false}
            value={form.asOf}
            onInput={({ currentTarget: { value } }) =>
              onChange({ ...form, asOf: value })}
          />
        </div>
        <p class="hint">
          {event
            ? (
              <>
                Event #{event.sequence}, <Time instant={event.issued_at} />
              </>
            )
            : "No such event"}
        </p>
      </fieldset>
    </details>
  );
}

/** What a date picker takes of a UTC time; "" for what it can't show. */
function toLocal(rfc3339: string): string {
  return /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/.exec(rfc3339)?.[1] ?? "";
}

/** Seconds may be left out by the picker. */
function toRfc3339(local: string): string {
  if (local === "") return "";
  return `${local.length === 16 ? `${local}:00` : local.slice(0, 19)}Z`;
}
