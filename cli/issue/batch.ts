/** What the commands that append many events say. @module */

import type { AppendedEvent } from "@sig/issuer";
import type { Call } from "../command_line/command.ts";
import {
  counted,
  warn,
  writeJson,
  writeWarnings,
} from "../command_line/output.ts";

/** What was done with an event's relationship. */
type Action = "create" | "update" | "reactivate" | "revoke";

/**
 * Says which events were appended.
 *
 * @param actions What each did, in the same order; absent where nobody planned.
 */
export function reportBatch(
  call: Call,
  appended: readonly AppendedEvent[],
  actions?: readonly Action[],
): number {
  const written = appended.filter(({ repeated }) => !repeated);
  const first = written.at(0)?.sequence ?? null;
  const last = written.at(-1)?.sequence ?? null;
  const there = appended.length - written.length;
  for (const { warnings } of written) writeWarnings(call, warnings);
  if (there > 0) {
    warn(call, `${counted(there, "event")} were there already`);
  }
  if (call.format === "json") {
    writeJson(call.io, {
      applied: written.length,
      first_sequence: first,
      last_sequence: last,
      events: appended.map(({ sequence, event_id, relationship_id }, at) => ({
        sequence,
        event_id,
        relationship_id,
        ...(actions === undefined ? {} : { action: actions[at] }),
      })),
    });
  } else {
    call.io.stdout(
      written.length === 0
        ? "Nothing to do: the feed says all of this already.\n"
        : `Appended ${counted(written.length, "event")} (seq=${
          first === last ? first : `${first} to ${last}`
        })\n`,
    );
  }
  return 0;
}
