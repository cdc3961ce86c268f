/**
 * Output as text and JSON. `report_error.ts` imports it, so it imports only
 * core.
 *
 * @module
 */

import {
  escapeInvisible as safe,
  type SourceKind,
  type Warning,
} from "@sig/core";
import type { VerifyProgress } from "@sig/consumer";
import type { Io } from "../terminal/io.ts";

export { safe };

/** The common output formats. */
export type Format = "text" | "json";

/** The destination and format of a command's output. */
export interface Output {
  readonly format: Format;
  readonly io: Io;
}

/** Returns equivalent JSON text that is safe for a terminal. */
export function safeJson(json: string): string {
  // JSON has line feeds only between members, never inside a string.
  return json.split("\n").map(safe).join("\n");
}

/** Writes one JSON value. */
export function writeJson(io: Io, value: unknown): void {
  io.stdout(`${safeJson(JSON.stringify(value, null, 2))}\n`);
}

/** Writes the result of a command: a JSON value, or text. */
export function writeResult(
  { format, io }: Output,
  value: unknown,
  text: string,
): void {
  if (format === "json") writeJson(io, value);
  else io.stdout(text);
}

/** Maximum number of ranges listed. */
const MAX_RANGES = 8;

/** Colours of output: yes, no, attention, less important. */
export type Colour = "green" | "red" | "yellow" | "dim";
const CODES: { readonly [name in Colour]: number } = {
  green: 32,
  red: 31,
  yellow: 33,
  dim: 2,
};

/** Colours text on terminals, unless NO_COLOR is set (no-color.org). */
export function colour(
  io: Io,
  stream: "stdout" | "stderr",
  name: Colour,
  text: string,
): string {
  if (!io.isTerminal(stream) || io.env("NO_COLOR") !== undefined) return text;
  return `\x1b[${CODES[name]}m${text}\x1b[0m`;
}

/** Returns a timestamp without fractions, so that all have the same width. */
export function toSecond(timestamp: string | null): string {
  return timestamp?.replace(/\.\d+Z$/, "Z") ?? "";
}

/** Returns the colour of an effective status. */
export function statusColour(status: string): Colour {
  if (status === "active") return "green";
  return status === "not_yet_valid" ? "dim" : "red";
}

/**
 * Writes warnings in text format, grouped if many lines share one. Also warns
 * about documents over http, which prove no origin.
 */
export function writeWarnings(
  call: Output,
  warnings: readonly Warning[],
  source?: SourceKind,
): void {
  if (source === "http") {
    warn(call, "origin not proven: documents came by http, without TLS");
  }
  for (const { first, lines } of groupByLines(warnings, ({ code }) => code)) {
    const place = lines === "" ? "" : ` (${lines})`;
    warn(call, `${first.code}: ${first.detail}${place}`);
  }
}

/**
 * Returns the member `warnings` of a JSON value; no member without warnings.
 */
export function givenWarnings(warnings: readonly Warning[]) {
  return warnings.length === 0 ? {} : { warnings };
}

/**
 * Groups findings of one kind over many lines. Returns the first of each group,
 * and its lines as ranges: `lines 3 to 57, 60`.
 */
export function groupByLines<T extends { readonly line?: number }>(
  found: readonly T[],
  kindOf: (each: T) => string,
): readonly { readonly first: T; readonly lines: string }[] {
  const groups = Map.groupBy(
    found,
    // A finding without a line is about the whole file and is not grouped.
    (each) => each.line === undefined ? each : kindOf(each),
  );
  return [...groups.values()].map((group) => ({
    first: group[0]!,
    lines: describeRanges("line", group.flatMap(({ line }) => line ?? [])),
  }));
}

/** Returns a count with its noun, such as `1 event` or `2 events`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Returns up to five values, such as `1, 2, 3, 4, 5 and 7 more`. */
export function firstOf(all: readonly (string | number)[]): string {
  const more = all.length > 5 ? ` and ${all.length - 5} more` : "";
  return `${all.slice(0, 5).join(", ")}${more}`;
}

/**
 * Returns ranges such as `row 7` or `lines 3 to 57, 60`; empty without numbers.
 */
export function describeRanges(
  word: string,
  numbers: readonly number[],
): string {
  const ranges: [number, number][] = [];
  for (const each of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && each === last[1] + 1) last[1] = each;
    else ranges.push([each, each]);
  }
  if (ranges.length === 0) return "";
  const words = ranges.slice(0, MAX_RANGES)
    .map(([from, to]) => from === to ? `${from}` : `${from} to ${to}`);
  const more = ranges.length - words.length;
  return `${word}${numbers.length === 1 ? "" : "s"} ${words.join(", ")}${
    more > 0 ? ` and ${more} more places` : ""
  }`;
}

/** Writes a warning in text format. */
export function warn(call: Output, text: string): void {
  if (call.format === "json") return;
  const label = colour(call.io, "stderr", "yellow", "warning");
  call.io.stderr(`${label}: ${safe(text)}\n`);
}

/** Returns the place of an error as text; empty without one. */
export function placeOf(context: {
  readonly [name: string]: unknown;
}): string {
  const words: string[] = [];
  for (const name of ["line", "sequence", "kid", "pointer", "flag"]) {
    const value = context[name];
    if (value === undefined || value === "") continue;
    const label = name === "pointer" ? "field" : name;
    words.push(`${label} ${safe(String(value))}`);
  }
  return words.join(", ");
}

/** Returns a display that is updated whenever `every` more is done. */
export function createProgress(
  call: Output,
  every: number,
  words: (done: number) => string,
) {
  const { io } = call;
  if (call.format === "json" || !io.isTerminal("stderr")) return undefined;
  let next = every;
  return {
    show(done: number): void {
      if (done < next) return;
      next = done + every;
      io.stderr(`\r${words(done)}\x1b[K`);
    },
    wipe(): void {
      if (next > every) io.stderr("\r\x1b[K");
    },
  };
}

/** The values of a progress message. */
interface ReadProgress extends VerifyProgress {
  readonly bytes: number;
  /** Milliseconds since reading began. */
  readonly elapsedMs: number;
}

/**
 * Returns events, events per second, and the time left if the length is known.
 */
export function describeProgress(
  { bytes, events, totalBytes, elapsedMs }: ReadProgress,
): string {
  const seconds = Math.max(elapsedMs, 1) / 1000;
  const rate = Math.round(events / seconds);
  const words = `verified ${events} events, ${rate}/s`;
  if (totalBytes === undefined || bytes === 0) {
    return `${words}, ${Math.floor(bytes / 1024 / 1024)} MiB read`;
  }
  // The announced length may be too short.
  const left = Math.max(0, totalBytes - bytes);
  return `${words}, ${describeSeconds(left * seconds / bytes)} left`;
}

function describeSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.ceil(whole / 60)} min`;
}
