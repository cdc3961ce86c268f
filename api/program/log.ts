/** Writes log lines for a server's operator. @module */

import { escapeInvisible } from "@sig/core";
import { describeThrown } from "../http/request_log.ts";
import type { ProcessIo } from "./io.ts";

/**
 * Maximum number of buffered characters; further lines are dropped and counted.
 */
const MAX_WAITING = 1024 * 1024;
/** How long lines are collected before they are written, in milliseconds. */
const GATHER_MS = 25;

/**
 * Creates a writer of log lines that does not delay the requests: it buffers
 * lines while a write is in progress, so that under load one write contains
 * many. If the reader is too slow, lines are dropped,
 * and one line reports their number.
 *
 * @param write Writes all of a text.
 */
export function createLogWriter(write: (text: string) => Promise<void>) {
  let waiting = "";
  let dropped = 0;
  let writing: Promise<void> | undefined;

  const reportDropped = () => {
    if (dropped === 0) return;
    waiting += `{"level":"error","dropped_lines":${dropped}}\n`;
    dropped = 0;
  };

  const drain = async () => {
    // Collects lines first: a write costs more than a line.
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    while (waiting !== "") {
      const text = waiting;
      waiting = "";
      // If the reader is closed, the service continues.
      await write(text).catch(() => {});
      reportDropped();
    }
    writing = undefined;
  };

  return {
    /** Buffers a line, which ends in LF. */
    write(line: string): void {
      if (waiting.length + line.length > MAX_WAITING) {
        dropped++;
        return;
      }
      reportDropped();
      waiting += line;
      writing ??= drain();
    },
    /** Resolves when all buffered lines are written. */
    async flush(): Promise<void> {
      await writing;
    },
  };
}

/** Returns a message of the server in the format of its log. */
export function operatorLine(
  message: string,
  log: "json" | "text" | "off",
  now: Date,
  level: "info" | "warning" | "error" = "error",
): string {
  const line = log === "json"
    ? JSON.stringify({ time: now.toISOString(), level, message })
    : `${level}: ${message}`;
  return `${escapeInvisible(line)}\n`;
}

/**
 * Logs unhandled promise rejections instead of ending the process. Older
 * runtimes reject a promise when an issuer's connection closes, which must not
 * end the service for everyone else.
 *
 * @example
 * ```ts
 * import { createServerIo, surviveRejections } from "@sig/api/program";
 *
 * surviveRejections(globalThis, createServerIo());
 * ```
 */
export function surviveRejections(
  source: EventTarget,
  io: Pick<ProcessIo, "stderr" | "now">,
): void {
  source.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    const error = describeThrown((event as PromiseRejectionEvent).reason);
    const time = io.now().toISOString();
    const entry = { time, level: "error", error };
    io.stderr(`${escapeInvisible(JSON.stringify(entry))}\n`);
  });
}
