/** Words for people and values for programs. @module */

import {
  escapeInvisible as safe,
  isSigError,
  SigError,
  toProblem,
  type Warning,
} from "@sig/core";
import type { Call, Format } from "./command.ts";
import type { Io } from "../terminal/io.ts";
import { nextStep } from "../terminal/next_step.ts";

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

type Colour = "green" | "red" | "yellow" | "dim";
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

/** Writes what was odd, to people only. */
export function writeWarnings(call: Call, warnings: readonly Warning[]): void {
  for (const { code, detail, line } of warnings) {
    const place = line === undefined ? "" : ` (line ${line})`;
    warn(call, `${code}: ${detail}${place}`);
  }
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
  const error = isMissingPermission(thrown) ? toUsageError(thrown) : thrown;
  const problem = toProblem(error);
  if (format === "json") {
    io.stderr(`${safeJson(JSON.stringify(problem))}\n`);
    return 2;
  }
  const label = colour(io, "stderr", "red", "error");
  io.stderr(`${label}: ${problem.code}: ${safe(problem.detail)}\n`);
  if (!isSigError(error)) return 2;
  const { context } = error;
  const place = placeOf(context);
  if (place !== "") io.stderr(`  at ${place}\n`);
  for (const issue of context.errors ?? []) {
    io.stderr(
      `  ${issue.code} ${safe(issue.pointer || "/")}: ${safe(issue.detail)}\n`,
    );
  }
  if (context.hint !== undefined) io.stderr(`  hint: ${safe(context.hint)}\n`);
  const next = nextStep(error);
  if (next !== undefined) io.stderr(`  next: ${next}\n`);
  return 2;
}

/** Deno's error of a permission that was not given to the process. */
function isMissingPermission(error: unknown): error is Error {
  return error instanceof Error && error.name === "NotCapable";
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
