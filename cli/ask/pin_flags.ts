/** Where fetched issuers are remembered (docs/protocol.md §6). @module */

import { isSigError, SigError, type Warning } from "@sig/core";
import type { PinStore } from "@sig/consumer/pins";
import {
  dataFolder,
  type FlagSpec,
  parseDuration,
  usageError,
} from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";

/** Where the memory is. */
export const PINS_FLAG: FlagSpec = {
  name: "pins",
  value: "FILE|kv:PATH|redis://HOST",
  help:
    "pin store of fetched issuers (default: pins.db in the data folder of the user)",
};

/** Flags of the commands that remember what they fetched. */
export const PIN_FLAGS: readonly FlagSpec[] = [
  PINS_FLAG,
  { name: "no-pin", help: "do not use the pin store" },
  { name: "require-pin", help: "refuse issuers that are not in the pin store" },
  { name: "full", help: "verify the whole feed again" },
  {
    name: "max-age",
    value: "DURATION",
    help:
      "answer without asking the issuer if it was read within that time (default: 0s)",
  },
];

/** The values of {@linkcode PIN_FLAGS}. */
export interface PinChoice {
  /** How old a state may be, in milliseconds. */
  readonly maxAgeMs: number;
  /** Verify everything again. */
  readonly full: boolean;
  /** The pin must be there. */
  readonly requirePin: boolean;
}

/** Judges the flags before anything is opened. */
export function pinChoice(call: Call): PinChoice {
  if (call.on("no-pin")) {
    for (const flag of ["pins", "require-pin"]) {
      if (call.text(flag) === undefined && !call.on(flag)) continue;
      throw usageError(`--${flag} and --no-pin contradict each other`, {
        flag: `--${flag}`,
      });
    }
  }
  return {
    maxAgeMs: parseDuration("--max-age", call.text("max-age")) ?? 0,
    full: call.on("full"),
    requirePin: call.on("require-pin"),
  };
}

/** A memory, or why there is none. */
export type OpenedPins =
  | { readonly pins: PinStore; readonly warning?: undefined }
  | { readonly pins?: undefined; readonly warning: Warning | undefined };

/**
 * Opens the pin store that is named, else the user's own. The latter
 * may be impossible, which is a warning; but if it is there, it must be usable,
 * and with `--require-pin` there must be one: without it nothing holds a pin.
 *
 * @throws {SigError} `store_unavailable`
 */
export async function openPins(call: Call): Promise<OpenedPins> {
  if (call.on("no-pin")) return { warning: undefined };
  const { openPinStore } = await import("@sig/consumer/pins");
  const named = call.text("pins");
  if (named !== undefined) {
    // A variable, since arguments can be read by others on the machine.
    const password = call.io.env("SIG_REDIS_PASSWORD") || undefined;
    const isRedis = /^rediss?:/.test(named);
    return { pins: await openPinStore(named, isRedis ? { password } : {}) };
  }
  const data = dataFolder(call.io.env);
  if (data.folder === undefined) return unpinned(call, data.why);
  const { folder } = data;
  const path = `${folder}/pins.db`;
  if (!await call.io.makePrivateFolder(folder)) {
    return unpinned(call, `the folder ${folder} can't be made`);
  }
  const isThere = call.io.exists(path);
  try {
    return { pins: await openPinStore(path) };
  } catch (error) {
    if (!isSigError(error)) throw error;
    const isForbidden = error.context.reason === "permission";
    if (isThere && !isForbidden) throw error;
    return unpinned(call, `${path} can't be opened`);
  }
}

/**
 * The memory for `sig pin`, which is of no use without one.
 *
 * @throws {SigError} `store_unavailable`, `invalid_request`
 */
export async function requirePins(call: Call): Promise<PinStore> {
  const { pins, warning } = await openPins(call);
  if (pins !== undefined) return pins;
  throw usageError(`there is no memory: ${warning?.detail}`, {
    flag: "--pins",
    hint: "Name it with --pins FILE.",
  });
}

function unpinned(call: Call, why: string): OpenedPins {
  const detail = `nothing is remembered of issuers: ${why}`;
  if (!call.on("require-pin")) {
    return { warning: { code: "memory_unavailable", detail } };
  }
  throw new SigError("store_unavailable", `Cannot require a pin: ${detail}`, {
    context: {
      flag: "--require-pin",
      hint: "Name the memory with --pins FILE.",
    },
  });
}
