/** Times for people. @module */

import { visibleText } from "./text.ts";

/** An instant as it was signed, in UTC, with the local time as a hint. */
export function Time({ instant, isShort = false }: {
  readonly instant: string;
  /** Up to the minute, or only the day at midnight. */
  readonly isShort?: boolean;
}) {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)(\.\d+)?Z$/.exec(instant);
  if (!parts) return <time>{visibleText(instant)}</time>;
  const [, day, minute, seconds] = parts;
  const isDay = minute === "00:00" && seconds === ":00";
  const short = isDay ? day : `${day} ${minute}`;
  return (
    <time
      dateTime={instant}
      onPointerEnter={({ currentTarget }) => {
        // Formatted late: the first local time loads the browser's calendars.
        currentTarget.title = `${new Date(instant).toLocaleString()} here`;
      }}
    >
      {isShort ? short : `${day} ${minute}${seconds} UTC`}
    </time>
  );
}

/** The last day of a period that ends at a midnight; undefined otherwise. */
export function lastDay(until: string): string | undefined {
  if (!/T00:00:00(\.0+)?Z$/.test(until)) return undefined;
  const ms = Date.parse(until);
  return Number.isNaN(ms)
    ? undefined
    : new Date(ms - 1).toISOString().slice(0, 10);
}

/** Start and end of a relationship. */
export function Validity({ from, until, none }: {
  readonly from: string | null | undefined;
  readonly until: string | null | undefined;
  /** The text if neither is set. */
  readonly none: string;
}) {
  if (!from && !until) return <span>{none}</span>;
  return (
    <span>
      {from && (
        <>
          from <Time instant={from} />
          {" "}
        </>
      )}
      {until
        ? (
          <>
            until <Time instant={until} />
            {lastDay(until) && ` (through ${lastDay(until)})`}
          </>
        )
        : "without an end"}
    </span>
  );
}

/**
 * Returns an instant for a sentence, in this device's time zone: the time if it
 * is today, otherwise the day.
 */
export function spokenTime(instant: string, now: Date): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return visibleText(instant);
  const isToday = date.toDateString() === now.toDateString();
  return isToday
    ? `at ${date.toLocaleTimeString("en-GB", { timeStyle: "short" })}`
    : `on ${date.toLocaleDateString("en-GB", { dateStyle: "long" })}`;
}
