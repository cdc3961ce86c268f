/** What a server writes for its operator. @module */

import { escapeInvisible } from "@sig/core";
import { describeThrown } from "../http/request_log.ts";
import type { ProcessIo } from "./io.ts";

/** Characters that may wait; beyond, lines are dropped and counted. */
const MAX_WAITING = 1024 * 1024;
/** Milliseconds in which lines are gathered before they are written. */
const GATHER_MS = 25;

/** Writes lines behind the requests that they are about. */
export interface LogWriter {
  /** Takes a line, which ends in LF. */
  write(line: string): void;
  /** Resolves when everything taken so far is written. */
  flush(): Promise<void>;
}

/**
 * Makes a writer that collects lines while a write is under way: under load one
 * write takes many lines. If a reader is too slow, lines are dropped, and one
 * line in their place says how many.
 *
 * @example
 * ```ts
 * import { createLogWriter } from "./log.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const written: string[] = [];
 * const log = createLogWriter((text) => Promise.resolve(void written.push(text)));
 * log.write("one\n");
 * log.write("two\n");
 * await log.flush();
 * assertEquals(written, ["one\ntwo\n"]);
 * ```
 *
 * @param write Writes a text to its end.
 */
export function createLogWriter(
  write: (text: string) => Promise<void>,
): LogWriter {
  let waiting = "";
  let dropped = 0;
  let writing: Promise<void> | undefined;

  const tellDropped = () => {
    if (dropped === 0) return;
    waiting += `{"level":"error","dropped_lines":${dropped}}\n`;
    dropped = 0;
  };

  const drain = async () => {
    // The requests of a moment share one write, which costs more than a line.
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    while (waiting !== "") {
      const text = waiting;
      waiting = "";
      // The reader has gone: the service continues.
      await write(text).catch(() => {});
      tellDropped();
    }
    writing = undefined;
  };

  return {
    write(line) {
      if (waiting.length + line.length > MAX_WAITING) {
        dropped++;
        return;
      }
      tellDropped();
      waiting += line;
      writing ??= drain();
    },
    async flush() {
      await writing;
    },
  };
}

/** A line of a server's own, in the form of its log. */
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
 * Logs a promise that rejects without being awaited, instead of ending the
 * process. Older runtimes reject one when an issuer's connection
 * breaks off: that must not end the service for everyone else.
 *
 * @example
 * ```ts
 * import { createServerIo, surviveRejections } from "@sig/api/server";
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
