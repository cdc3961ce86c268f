/** Promises that nobody waits for. @module */

import { escapeInvisible } from "@sig/core";
import { describeThrown } from "./guard.ts";
import type { ServerIo } from "./server_io.ts";

/** What tells of rejections that nobody handled: the process's global. */
export interface RejectionSource {
  /** As of every event target. */
  addEventListener(
    type: "unhandledrejection",
    listener: (event: {
      readonly reason: unknown;
      preventDefault(): void;
    }) => void,
  ): void;
}

/**
 * Lets a server's process go on when a promise that nobody waits for rejects,
 * and tells its operator. Older runtimes reject one when an issuer's connection
 * breaks off: that must not end the service for everyone else.
 *
 * @example
 * ```ts
 * import { createServerIo, surviveRejections } from "@sig/api/http";
 *
 * surviveRejections(globalThis, createServerIo());
 * ```
 */
export function surviveRejections(
  source: RejectionSource,
  io: Pick<ServerIo, "stderr" | "now">,
): void {
  source.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    const error = describeThrown(event.reason);
    const time = io.now().toISOString();
    const entry = { time, level: "error", error };
    io.stderr(`${escapeInvisible(JSON.stringify(entry))}\n`);
  });
}
