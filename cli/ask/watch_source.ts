/** What `watch` and `log --follow` share. @module */

import { toProblem } from "@sig/core";
import type { WatchedEvent, WatchOptions } from "@sig/consumer";
import type { Call } from "../command_line/command.ts";
import { type Output, warn, writeWarnings } from "../output/write.ts";
import type { PinValues } from "./pin_flags.ts";
import {
  type PolicyValues,
  sourceOptions,
  withSource,
} from "./source_flags.ts";

/**
 * Follows a source by `each`; its cursor is kept in the memory, unless
 * `keepsNothing`. Where `each` says that it has not dealt with an event, that
 * ends it, and the event comes again.
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
  const { openPins, pinChoice } = await import("./pin_flags.ts");
  const { requirePin } = pinChoice(call);
  const source = parseSource(text, sourceOptions(call));
  const isLocal = source.kind === "directory" || source.kind === "file";
  const { pins, warning } = keepsNothing
    ? { warning: undefined }
    : await openPins(call);
  try {
    // To those that read JSON as well: each run begins at the feed's end then.
    if (warning !== undefined) {
      writeWarnings({ ...call, format: "text" }, [warning]);
    }
    await withSource(call, text, async (location, { now: _, ...policy }) => {
      const events = watchIssuer(location, {
        ...policy,
        ...options,
        now: call.io.now,
        place: isLocal ? await realPath(call, source.path) : undefined,
        pins,
        requirePin,
        onRetry(error, waitMs) {
          const { code, detail } = toProblem(error);
          const seconds = Math.ceil(waitMs / 1000);
          // A program that reads JSON must not wait in silence either.
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

/** One folder has one cursor, by whatever name it is reached. */
async function realPath({ io }: Output, path: string): Promise<string> {
  return await io.realPath?.(path) ?? io.absolutePath(path);
}
