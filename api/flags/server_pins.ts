/** The memory that replicas of a server share (docs/protocol.md §6). @module */

import type { PinStore } from "@sig/consumer/pins";
import type { Exposure } from "./server_flags.ts";
import { type FlagSpec, type GivenFlags, usageError } from "./flag.ts";

/** Flags of the servers' memory. */
export const SERVER_PIN_FLAGS: readonly FlagSpec[] = Object.freeze([
  {
    name: "pins",
    value: "FILE|kv:PATH|redis://HOST",
    help:
      "where the named issuers are remembered, with other servers (default: this process)",
  },
  {
    name: "require-pin",
    help: "with --pins: refuse named issuers that it does not hold yet",
  },
]);

/** The variable that may hold the password of `--pins redis://…`. */
const PASSWORD_VARIABLE = "SIG_REDIS_PASSWORD";

/** The memory of a server, as it was asked for. */
export interface ServerPins {
  /** Undefined: the process's own. */
  readonly pins: PinStore | undefined;
  /** An issuer that is not there yet is an error. */
  readonly requirePin: boolean;
  /** For the operator. */
  readonly warnings: readonly string[];
}

/** Whether others reach a server, and how its operator learns of faults. */
export interface ServerReach {
  /** Undefined for a server that only this machine reaches. */
  readonly exposure?: Exposure | undefined;
  /** Writes for the operator what answers to clients leave out. */
  readonly tell: (message: string) => void;
}

/** What clients read in the place of a path or an address. */
const SHOWN_AS = "of this server";

/**
 * Opens the memory that {@linkcode SERVER_PIN_FLAGS} name. The password of a
 * Redis is taken from `SIG_REDIS_PASSWORD`, since arguments can be read by
 * others on the machine.
 *
 * @example
 * ```ts
 * import { openServerPins, parseFlags, SERVER_PIN_FLAGS } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * const flags = parseFlags([], {
 *   flags: SERVER_PIN_FLAGS,
 *   seeHelp: "See: sig-hello --help",
 * });
 * assertEquals((await openServerPins(flags, {})).pins, undefined);
 * ```
 *
 * @param reach Where others reach the server. Its answers then do not contain
 * the path of the memory; only the operator's log does.
 * @throws {SigError} `invalid_request`; `store_unavailable` with its place.
 */
export async function openServerPins(
  flags: GivenFlags,
  io: { env?(name: string): string | undefined },
  reach?: ServerReach,
): Promise<ServerPins> {
  const text = flags.text("pins");
  const requirePin = flags.on("require-pin");
  if (text === undefined) {
    if (!requirePin) return { pins: undefined, requirePin, warnings: [] };
    throw usageError("--require-pin goes with --pins", {
      flag: "--require-pin",
    });
  }
  const { openPinStore } = await import("@sig/consumer/pins");
  let isInUrl = false;
  let password: string | undefined;
  if (/^rediss?:/.test(text)) {
    const { parseRedisUrl } = await import("@sig/consumer/store");
    isInUrl = parseRedisUrl(text).password !== undefined;
    if (!isInUrl) password = io.env?.(PASSWORD_VARIABLE) || undefined;
  }
  const pins = await openPinStore(text, {
    password,
    ...reach?.exposure && { shownAs: SHOWN_AS, tell: reach.tell },
  });
  const warning =
    `the password in --pins is visible to every user of this machine; use ${PASSWORD_VARIABLE}`;
  return { pins, requirePin, warnings: isInUrl ? [warning] : [] };
}
