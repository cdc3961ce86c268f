/** Flags of the pin store and of proofs (docs/protocol.md §6). @module */

import { isSigError, SigError, type Warning } from "@sig/core";
import type { PinStore } from "@sig/consumer/pins";
import type { ProofPolicy } from "@sig/consumer";
import type { NoteKey } from "@sig/jose/proofs";
import {
  count,
  dataFolder,
  duration,
  many,
  optional,
  toggle,
  usageError,
  type Values,
} from "@sig/api/program";
import type { Call } from "../command_line/command.ts";
import { fileOr, refuseTogether, textOf } from "../command_line/values.ts";

/** The location of the pin store. */
export const PINS_FLAG = {
  pins: optional(
    fileOr("FILE|kv:PATH|redis://HOST"),
    "pin store of fetched issuers (default: pins.db in the data folder of the user)",
  ),
};

/** Flags of the commands that use the pin store. */
export const PIN_FLAGS = {
  ...PINS_FLAG,
  "no-pin": toggle("do not use the pin store"),
  "require-pin": toggle("refuse issuers that are not in the pin store"),
  full: toggle("verify the whole feed again"),
  "max-age": optional(
    duration,
    "answer without asking the issuer if it was read within that time (default: 0s)",
  ),
};

/** Flags of the commands that can answer from a proof. */
export const PROOF_FLAGS = {
  "no-proof": toggle(
    "read the whole feed, so that the server does not learn the subject",
  ),
  "max-checkpoint-age": optional(
    duration,
    "refuse a checkpoint that the issuer confirmed longer ago",
  ),
  cosigner: many(
    textOf("VKEY"),
    "a cosigner's key, as <name>+<key ID>+<base64>",
  ),
  cosigners: optional(
    count,
    "how many of these cosigners must have signed (default: all)",
  ),
  "cosigned-within": optional(
    duration,
    "refuse cosignatures that are older (default: any age)",
  ),
};

/**
 * Returns the checkpoint policy of {@linkcode PROOF_FLAGS}; undefined without
 * one.
 */
export async function checkpointPolicy(
  { flags }: Call<PinValues>,
): Promise<ProofPolicy | undefined> {
  const { cosigner = [], cosigners: requiredCosigners } = flags;
  const maxCheckpointAgeMs = flags["max-checkpoint-age"];
  const cosignedWithinMs = flags["cosigned-within"];
  const needed = requiredCosigners ?? (cosignedWithinMs === undefined ? 0 : 1);
  if (needed > cosigner.length) {
    throw usageError(
      `--cosigner must name at least ${needed}, current number is ${cosigner.length}`,
      { flag: "--cosigner" },
    );
  }
  if (cosigner.length === 0 && maxCheckpointAgeMs === undefined) {
    return undefined;
  }
  const cosigners = await Promise.all(
    cosigner.map((text) => readCosigner(text, "--cosigner")),
  );
  return {
    maxCheckpointAgeMs,
    cosigners,
    cosignedWithinMs,
    requiredCosigners,
  };
}

/** Parses the value of a flag as the key of a cosigner. */
export async function readCosigner(
  vkey: string,
  flag: string,
): Promise<NoteKey> {
  const { parseVerifierKey } = await import("@sig/jose/proofs");
  const key = await parseVerifierKey(vkey);
  if (key.type === "cosignature") return key;
  throw usageError(`${flag} must be a key that cosigns (type 0x04)`, { flag });
}

/**
 * The values of {@linkcode PIN_FLAGS} and {@linkcode PROOF_FLAGS}, of which
 * each command has some.
 */
export type PinValues = Partial<
  Values<typeof PIN_FLAGS & typeof PROOF_FLAGS>
>;

/**
 * Returns the settings that the flags result in, before any file or connection
 * is opened: `maxAgeMs` of a remembered state, and whether a proof may answer a
 * question about one subject.
 */
export function pinChoice({ flags }: Call<PinValues>) {
  const { full = false, "max-age": maxAgeMs = 0 } = flags;
  const { pins, "require-pin": requirePin = false } = flags;
  if (flags["no-pin"]) {
    refuseTogether({ pins, "require-pin": requirePin }, "no-pin");
  }
  const proofs = maxAgeMs === 0 && !full && !flags["no-proof"];
  return { maxAgeMs, full, requirePin, proofs };
}

/** A pin store, or the reason why there is none. */
type OpenedPins =
  | { readonly pins: PinStore; readonly warning?: undefined }
  | { readonly pins?: undefined; readonly warning: Warning | undefined };

/**
 * Opens the pin store of `--pins`, else the user's own. If the user's own can't
 * be created, the result is a warning, or an error with `--require-pin`. If it
 * exists, it must be usable.
 *
 * @throws {SigError} `store_unavailable`
 */
export async function openPins(
  call: Call<PinValues>,
): Promise<OpenedPins> {
  if (call.flags["no-pin"]) return { warning: undefined };
  const { openPinStore } = await import("@sig/consumer/pins");
  const named = call.flags.pins;
  if (named === "kv:") {
    // Only servers have a platform's own database.
    throw usageError("--pins kv: needs a path, such as kv:pins.kv", {
      flag: "--pins",
    });
  }
  if (named !== undefined) {
    // From the environment, since other users of the machine can read
    // arguments.
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
 * Returns the folder of the copies of feeds (XDG base directory specification);
 * undefined with `--no-pin`, or if there is no place for it.
 */
export function mirrorFolder({ flags, io }: Call<PinValues>) {
  if (flags["no-pin"]) return undefined;
  const cache = io.env("XDG_CACHE_HOME");
  // The specification says to ignore a relative path.
  if (cache?.startsWith("/")) return `${cache}/sig/feeds`;
  const home = io.env("HOME");
  return home?.startsWith("/") ? `${home}/.cache/sig/feeds` : undefined;
}

/**
 * Runs `work` with the pin store, which the command needs.
 *
 * @throws {SigError} `store_unavailable`, `invalid_request`
 */
export async function withPins(
  call: Call<PinValues>,
  work: (pins: PinStore) => Promise<void>,
): Promise<void> {
  const { pins, warning } = await openPins(call);
  if (pins === undefined) {
    throw usageError(`there is no pin store: ${warning?.detail}`, {
      flag: "--pins",
      hint: "Name one with --pins FILE.",
    });
  }
  try {
    await work(pins);
  } finally {
    await pins.close();
  }
}

function unpinned(call: Call<PinValues>, why: string): OpenedPins {
  const detail = `nothing is remembered of issuers: ${why}`;
  if (!call.flags["require-pin"]) {
    return { warning: { code: "memory_unavailable", detail } };
  }
  throw new SigError("store_unavailable", {
    action: "require a pin",
    reason: detail,
    context: {
      flag: "--require-pin",
      hint: "Name a pin store with --pins FILE.",
    },
  });
}
