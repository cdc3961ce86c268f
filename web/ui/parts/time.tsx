/** Times for people. @module */

import { shown } from "./text.ts";

/** An instant as it was signed, in UTC, with the reader's own time as a hint. */
export function Time({ instant }: { readonly instant: string }) {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return <time>{shown(instant)}</time>;
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/.exec(instant);
  return (
    <time
      dateTime={instant}
      onPointerEnter={({ currentTarget }) => {
        // Not before it is wanted: the first one loads the browser's calendars.
        currentTarget.title = `${date.toLocaleString()} here`;
      }}
    >
      {parts ? `${parts[1]} ${parts[2]} UTC` : shown(instant)}
    </time>
  );
}

/** An instant in a row: to the minute, and only the day where one begins. */
export function ShortTime({ instant }: { readonly instant: string }) {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)(\.\d+)?Z$/.exec(
    instant,
  );
  if (!parts) return <Time instant={instant} />;
  const [, day, minute, seconds] = parts;
  const isDay = minute === "00:00" && seconds === ":00";
  return (
    <time dateTime={instant} title={instant}>
      {isDay ? day : `${day} ${minute}`}
    </time>
  );
}

/**
 * An instant as a person says it, in the time of this device: only the time
 * where it was today, else the day.
 */
export function spokenTime(instant: string, now: Date): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return shown(instant);
  const isToday = date.toDateString() === now.toDateString();
  return isToday
    ? `at ${date.toLocaleTimeString("en-GB", { timeStyle: "short" })}`
    : `on ${date.toLocaleDateString("en-GB", { dateStyle: "long" })}`;
}

/** Minutes and seconds. */
export function countdown(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
