import {
  duration,
  optional,
  pause,
  toggle,
  usageError,
  type ValueType,
} from "@sig/api/program";
import { toProblem } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { WatchedEvent, WatchOptions } from "@sig/consumer";
import { type Call, INTERRUPTED } from "../command_line/command.ts";
import { checked, sequence, textOf } from "../command_line/values.ts";
import { PIN_FLAGS, PINS_FLAG, type PinValues } from "../ask/pin_flags.ts";
import { safe, safeJson, warn, writeWarnings } from "../output/write.ts";
import {
  type PolicyValues,
  sourceCommand,
  sourceOptions,
  withSource,
} from "../ask/source_flags.ts";

/**
 * Delay in ms before a failed command is retried; it doubles with each failure.
 */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5 * 60_000;

/**
 * Ctrl-C reaches the command and this process, and the command may end first.
 * Before a failure is reported, our own signal gets this time to arrive.
 */
const SIGNAL_WAIT_MS = 100;
/** The same for a command that a signal ended (128 + the signal's number). */
const OWN_SIGNAL_WAIT_MS = 1_000;

/** `--exec`, a program and its arguments. */
const command: ValueType<readonly string[]> = {
  placeholder: "COMMAND",
  parse(text, flag) {
    const words = text.split(/\s+/).filter((word) => word !== "");
    if (words.length > 0) return words;
    throw usageError(`${flag} must name a program`, { flag });
  },
};

const interval = checked(duration, (ms) => ms > 0, "be more than 0");

/** `sig watch` */
export const watch = sourceCommand({
  description: `
    Prints each newly verified event once, as a line of JSON:
    {"sequence","event_id","event","kid"}. A cursor in the pin store keeps the
    position for the next start; a new cursor begins at the end of the feed, or at
    --from. Nothing is printed unless the whole feed is valid. If the issuer
    can't be reached, it is asked again at growing intervals. A feed that is
    invalid or contradicts the pin store ends it with 2, Ctrl-C with 130, SIGTERM
    with 0.

    With --exec nothing is printed: COMMAND, a program with its arguments (no shell,
    no quotes), gets the line on standard input, one event after the other. It is run
    again until it ends with 0.`,
  flags: {
    from: optional(
      sequence,
      "first event of a new cursor (default: the next one)",
    ),
    once: toggle("fetch once, then end"),
    exec: optional(
      command,
      "program to run for each event, which it reads from standard input",
    ),
    interval: optional(interval, "poll interval (default: 30s)"),
    cursor: optional(
      textOf("NAME"),
      "name of the cursor, if several watch the same feed (default: default)",
    ),
    ...PINS_FLAG,
    "no-pin": toggle("keep no cursor"),
    "require-pin": PIN_FLAGS["require-pin"],
  },
  format: "json",
  endless: true,
  examples: [
    "sig watch acme.example",
    "sig watch acme.example --from 1 --once",
    "sig watch acme.example --exec ./on-change.sh --cursor directory --interval 1m",
  ],
  async run(call, source) {
    const { cursor, exec: words, from, interval, once } = call.flags;
    const stop = new AbortController();
    let isInterrupted = false;
    // Not awaited: the signals may never arrive.
    call.io.interrupted().then(() => isInterrupted = true, () => {});
    call.io.stopRequested().then(() => stop.abort(), () => {});
    if (words?.some((word) => /["']/.test(word))) {
      warn(
        call,
        `--exec does not support quotes: the arguments are ${words.join(", ")}`,
      );
    }
    // The first event may take long to arrive.
    const isRead = call.format === "text" && call.io.isTerminal("stderr");
    if (isRead && !once) {
      call.io.stderr(`Watching ${safe(source)}. Stop it with Ctrl-C.\n`);
    }
    await watchSource(call, source, {
      cursor,
      from,
      intervalMs: interval,
      once,
      signal: stop.signal,
    }, async (watched) => {
      const line = `${safeJson(JSON.stringify(watched))}\n`;
      if (words !== undefined) {
        return await runUntilSuccess(call, words, line, watched, stop.signal);
      }
      call.io.stdout(line);
      return true;
    });
    // SIGTERM is the normal end of an endless watch; with --once it means
    // unfinished.
    const isUnfinished = once && stop.signal.aborted;
    return isInterrupted || isUnfinished ? INTERRUPTED : 0;
  },
});

/**
 * Runs the command until it exits with 0. Returns false if a stop was requested
 * before; a running command is awaited.
 */
async function runUntilSuccess(
  call: Call<{ readonly once: boolean }>,
  words: readonly string[],
  line: string,
  { sequence }: WatchedEvent,
  signal: AbortSignal,
): Promise<boolean> {
  const { io } = call;
  for (let waitMs = FIRST_WAIT_MS;; waitMs *= 2) {
    const code = await io.runProgram(words, line);
    if (code === 0) return true;
    await pause(code > 128 ? OWN_SIGNAL_WAIT_MS : SIGNAL_WAIT_MS, signal);
    if (signal.aborted) return false;
    const why = `${quote(words[0]!)} ended with ${code} on event ${sequence}`;
    if (call.flags.once) {
      throw usageError(`--exec failed: ${why}`, {
        flag: "--exec",
        hint: "The next sig watch delivers the event again.",
      });
    }
    const next = Math.min(waitMs, LONGEST_WAIT_MS);
    warn({ ...call, format: "text" }, `${why}; again in ${next / 1000} s`);
    await pause(next, signal);
    if (signal.aborted) return false;
  }
}

/**
 * Follows a source and calls `each` for each event. The cursor is stored in the
 * pin store, unless `keepsNothing`. If `each` returns false, watching ends, and
 * the next run delivers the event again.
 *
 * @throws {SigError} as `watchIssuer`.
 */
export async function watchSource(
  call: Call<PolicyValues & PinValues>,
  text: string,
  options: WatchOptions,
  each: (watched: WatchedEvent) => boolean | Promise<boolean>,
  { keepsNothing = false }: { readonly keepsNothing?: boolean } = {},
): Promise<void> {
  const { parseSource, watchIssuer } = await import("@sig/consumer");
  const { mirrorFolder, openPins, pinChoice } = await import(
    "../ask/pin_flags.ts"
  );
  const { requirePin } = pinChoice(call);
  const source = parseSource(text, sourceOptions(call));
  const isLocal = source.kind === "directory" || source.kind === "file";
  const { pins, warning } = keepsNothing
    ? { warning: undefined }
    : await openPins(call);
  try {
    // Warned as text even with JSON output, because each run then begins at the
    // end of the feed.
    if (warning !== undefined) {
      writeWarnings({ ...call, format: "text" }, [warning]);
    }
    await withSource(call, text, async (location, { now: _, ...policy }) => {
      const events = watchIssuer(location, {
        ...policy,
        ...options,
        now: call.io.now,
        // A folder has one cursor, whatever its link.
        place: isLocal ? await call.io.realPath(source.path) : undefined,
        pins,
        mirrorFolder: keepsNothing ? undefined : mirrorFolder(call),
        requirePin,
        onRetry(error, waitMs) {
          const { code, detail } = toProblem(error);
          const seconds = Math.ceil(waitMs / 1000);
          // Warned as text even with JSON output, because the wait would be
          // unexplained.
          warn(
            { ...call, format: "text" },
            `${code}: ${detail}; again in ${seconds} s`,
          );
        },
      });
      for await (const watched of events) {
        if (!await each(watched)) return;
      }
    });
  } finally {
    await pins?.close();
  }
}
