/** Words for people and values for programs. @module */

import {
  escapeInvisible as safe,
  isSigError,
  type Issue,
  SigError,
  toProblem,
  type Warning,
} from "@sig/core";
import type { Call, Format } from "./command.ts";
import type { Io } from "../terminal/io.ts";
import { nextStep } from "../terminal/next_step.ts";
import { type Column, layOut } from "../terminal/table.ts";

export { safe };

/** JSON text that means the same and is safe for a terminal. */
export function safeJson(json: string): string {
  // A line feed stands between the members only, never inside a string.
  return json.split("\n").map(safe).join("\n");
}

/** Writes one JSON value. */
export function writeJson(io: Io, value: unknown): void {
  io.stdout(`${safeJson(JSON.stringify(value, null, 2))}\n`);
}

/** Ranges of lines that are told of at the most. */
const MAX_RANGES = 8;

/** How a fault's detail begins that is in one row or line of a list. */
const LIST_PLACE = /^(row|line) (\d+)([,:] .+)$/s;

/** What a colour is for: yes, no, attention, less important. */
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

/** A column of {@linkcode writeTable}; a cell's text tells its colour. */
export interface TableColumn {
  /** What stands above it. */
  readonly title: string;
  /** The colour of a cell. */
  readonly colour?: (cell: string) => Colour | undefined;
}

/** Columns of the terminal that reads the result; undefined where none does. */
export function widthOf(io: Io): number | undefined {
  return io.isTerminal("stdout") ? io.columns?.() : undefined;
}

/** Writes rows for people, as wide as their terminal is. */
export function writeTable(
  { io }: Call,
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): void {
  const shown = columns.map(({ title, colour: of }): Column => ({
    title,
    paint(text, cell) {
      const name = of?.(cell);
      return name === undefined ? text : colour(io, "stdout", name, text);
    },
  }));
  const cells = rows.map((row) => row.map(safe));
  const lines = layOut(shown, cells, widthOf(io));
  // At once: a feed may have very many.
  if (lines.length > 0) io.stdout(`${lines.join("\n")}\n`);
}

/** A timestamp to the second, so that a column of them has one width. */
export function toSecond(timestamp: string | null): string {
  return timestamp?.replace(/\.\d+Z$/, "Z") ?? "";
}

/** The colour of an effective status. */
export function statusColour(status: string): Colour {
  if (status === "active") return "green";
  return status === "not_yet_valid" ? "dim" : "red";
}

/** Writes what was odd, to people only; once for what many lines share. */
export function writeWarnings(call: Call, warnings: readonly Warning[]): void {
  for (const { first, lines } of groupByLines(warnings, ({ code }) => code)) {
    const place = lines === "" ? "" : ` (${lines})`;
    warn(call, `${first.code}: ${first.detail}${place}`);
  }
}

/**
 * Findings of one kind over many lines, told once with their lines as ranges:
 * `lines 3 to 57, 60`. The detail is that of the first one.
 */
export function groupByLines<T extends { readonly line?: number }>(
  found: readonly T[],
  kindOf: (each: T) => string,
): readonly { readonly first: T; readonly lines: string }[] {
  const groups = Map.groupBy(
    found,
    // What has no line is about the whole: each is told.
    (each) => each.line === undefined ? each : kindOf(each),
  );
  return [...groups.values()].map((group) => ({
    first: group[0]!,
    lines: describeRanges("line", group.flatMap(({ line }) => line ?? [])),
  }));
}

/** `1 event`, `2 events`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** `row 7`, `lines 3 to 57, 60`; empty without a number. */
function describeRanges(word: string, numbers: readonly number[]): string {
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

/** Says something odd, to people only. */
export function warn(call: Call, text: string): void {
  if (call.format === "json") return;
  const label = colour(call.io, "stderr", "yellow", "warning");
  call.io.stderr(`${label}: ${safe(text)}\n`);
}

/** Where an error is, in words; empty when it is nowhere. */
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

/** Reports why a command could not do its work: exit code 2. */
export function reportError(io: Io, thrown: unknown, format: Format): number {
  const error = isNamed(thrown, "NotCapable")
    ? toUsageError(thrown)
    : isNamed(thrown, "OutputFailed")
    ? toWriteFailed(thrown)
    : thrown;
  const problem = toProblem(error);
  const next = isSigError(error) ? nextStep(error) : undefined;
  if (format === "json") {
    io.stderr(`${safeJson(JSON.stringify({ ...problem, next }))}\n`);
    return 2;
  }
  const label = colour(io, "stderr", "red", "error");
  const place = isSigError(error) ? placeOf(error.context) : "";
  const at = place === "" ? "" : ` (at ${place})`;
  io.stderr(`${label}: ${problem.code}: ${safe(problem.detail)}${at}\n`);
  if (!isSigError(error)) return 2;
  const { context } = error;
  for (const line of describeIssues(context.errors ?? [])) {
    io.stderr(`  ${safe(line)}\n`);
  }
  if (context.hint !== undefined) io.stderr(`  hint: ${safe(context.hint)}\n`);
  if (next !== undefined) io.stderr(`  next: ${next}\n`);
  return 2;
}

/** Each fault, and once what many rows or lines of a list share. */
function describeIssues(issues: readonly Issue[]): readonly string[] {
  const placed = issues.map((issue) => {
    const [, word = "", number, rest] = LIST_PLACE.exec(issue.detail) ?? [];
    // A row's fault names its column itself.
    const field = word === "line" ? issue.pointer.replace(/^\/\d+/, "") : "";
    const what = rest && (field === "" ? rest : `, field ${field}${rest}`);
    return { ...issue, word, number: Number(number), what };
  });
  const groups = Map.groupBy(
    placed,
    (each) => each.what === undefined ? each : each.code + each.what,
  );
  return [...groups.values()].map((group) => {
    const { code, pointer, detail, word, what } = group[0]!;
    return what === undefined
      ? `${code} ${pointer || "/"}: ${detail}`
      : `${code} ${
        describeRanges(word, group.map((each) => each.number))
      }${what}`;
  });
}

/**
 * `NotCapable` is Deno's error of a permission that was not given to the
 * process, `OutputFailed` that of `writeAll`.
 */
function isNamed(
  error: unknown,
  name: "NotCapable" | "OutputFailed",
): error is Error {
  return error instanceof Error && error.name === name;
}

function toWriteFailed(cause: Error): SigError {
  return new SigError(
    "write_failed",
    "Cannot write the result: standard output takes no more",
    {
      context: {
        hint: "What the command was to do may be done: look before you repeat.",
      },
      cause,
    },
  );
}

function toUsageError(error: Error): SigError {
  const flag = /--allow-[a-z]+/.exec(error.message)?.[0];
  return new SigError(
    "invalid_request",
    "Cannot go on: the program was not given a permission that it needs",
    {
      context: flag ? { hint: `Run it with ${flag}.` } : {},
      cause: error,
    },
  );
}
