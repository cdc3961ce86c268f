/** Starts the provider from flags and files (docs/openid.md). @module */

import {
  dataFolder,
  operatorLine,
  type ServerIo,
  usageError,
} from "@sig/api/program";
import type { Telemetry } from "@sig/api/internal/http";
import { escapeInvisible, isSigError, SigError } from "@sig/core";
import {
  foldUsername,
  MAX_PEOPLE_BYTES,
  People,
  peopleFaults,
  readPeople,
} from "@sig/issuer/people";
import type { Naming } from "../sign_in/person.ts";
import { type Clients, readClients } from "./clients.ts";
import { generateProviderKeys, readProviderKeys } from "./keys.ts";
import type { ProviderWork } from "../sign_in/host.ts";
import { createProvider, type ProviderSettings } from "./provider.ts";
import { DEFAULT_RECHECK_MS } from "../sessions/recheck.ts";
import { runInBackground } from "../sessions/watch.ts";

const MAX_CLIENTS_BYTES = 8 * 1024 * 1024;
const MAX_KEYS_BYTES = 256 * 1024;
const MIN_RECHECK_MS = 1_000;
const NO_CLIENTS: Clients = new Map();

/** The parsed flags; durations are in milliseconds. */
interface OpenIdFlags {
  readonly "oidc-clients"?: string | undefined;
  readonly "oidc-keys"?: string | undefined;
  readonly people?: string | undefined;
  readonly session?: number | undefined;
  readonly recheck?: number | undefined;
  readonly grace?: number | undefined;
  readonly "max-age"?: number | undefined;
  readonly "gate-host": readonly string[];
  readonly demo: boolean;
  readonly log: "json" | "text" | "off";
}

/** The provider of a process. */
export type OpenIdProgram = Awaited<ReturnType<typeof startOpenId>>;

/**
 * Reads `--oidc-clients`, `--oidc-keys`, `--people`, `--session`, `--recheck`,
 * `--grace`, `--gate-host`. Missing keys are generated; those of a demo without
 * other flags are not saved. Applications and people are read again at each
 * SIGHUP; if a file is invalid, its previous content remains in use.
 *
 * @throws {SigError} `invalid_request`, `invalid_json`, `invalid_key`,
 * `source_not_found`, `document_too_large`, `write_failed`.
 */
export async function startOpenId(flags: OpenIdFlags, io: ServerIo) {
  const { "oidc-clients": path, people: peoplePath, log } = flags;
  const recheckMs = recheckOf(flags);
  const say = (level: "info" | "error", message: string) => {
    io.stderr(operatorLine(message, log, io.now(), level));
  };
  const rereads: (() => Promise<void>)[] = [];
  /** Reads a file, if there is one, and again at each SIGHUP. */
  async function follow<T extends { readonly size: number }>(
    what: string,
    path: string | undefined,
    maxBytes: number,
    parse: (bytes: Uint8Array, path: string) => T,
  ): Promise<() => T | undefined> {
    if (path === undefined) return () => undefined;
    const read = async () => parse(await io.readFile(path, maxBytes), path);
    let current = await read();
    rereads.push(async () => {
      try {
        current = await read();
        say("info", `read ${current.size} ${what} again`);
      } catch (error) {
        say("error", `the ${what} stay as they were: ${describe(error)}`);
      }
    });
    return () => current;
  }
  const clients = await follow(
    "applications",
    path,
    MAX_CLIENTS_BYTES,
    readClients,
  );
  const people = await follow(
    "people",
    peoplePath,
    MAX_PEOPLE_BYTES,
    readPersonNames,
  );
  const { keys, warnings } = await openKeys(flags, io);
  const stopListening = io.onHangup(() => {
    for (const reread of rereads) void reread();
  });
  let stop: (() => Promise<void>) | undefined;
  const settings: ProviderSettings = {
    // With forward auth only, there are no applications.
    clients: () => clients() ?? NO_CLIENTS,
    keys,
    sessionMs: flags.session,
    graceMs: flags.grace,
    nameOf: (subject) => people()?.nameOf?.(subject),
    usernameOf: (subject) => people()?.usernameOf?.(subject),
    gateHosts: flags["gate-host"],
    gateMaxAgeMs: flags["max-age"] ?? recheckMs,
  };
  return {
    /** Warnings to print at the start. */
    warnings,
    /** The settings from flags and files. */
    settings,
    /** Creates the provider with these settings, or with those of a demo. */
    createProvider,
    /** Starts the background work. */
    begin(provider: ProviderWork, telemetry?: Telemetry): void {
      let sessions: number | undefined;
      telemetry?.gauge(
        "sig.sessions",
        "{session}",
        () => sessions === undefined ? [] : [[sessions]],
      );
      stop = runInBackground({
        watch: async () => sessions = (await provider.watch()).looked,
        watchEveryMs: recheckMs,
        deliver: () => provider.deliver(),
        failed: (error) =>
          say("error", `sessions are not watched now: ${describe(error)}`),
      });
    },
    /** Ends the background work. */
    async close(): Promise<void> {
      stopListening?.();
      await stop?.();
    },
  };
}

/**
 * Returns a safe message: errors other than `SigError` may contain a secret.
 */
function describe(error: unknown): string {
  return isSigError(error) ? error.message : "an unexpected error";
}

function recheckOf({ recheck, demo, "max-age": maxAge = 0 }: OpenIdFlags) {
  // A demo uses the minimum, since people are waiting for the result.
  if (demo) return recheck ?? MIN_RECHECK_MS;
  return recheck ??
    (maxAge === 0 ? DEFAULT_RECHECK_MS : Math.max(maxAge, MIN_RECHECK_MS));
}

async function openKeys(flags: OpenIdFlags, io: ServerIo) {
  const given = flags["oidc-keys"];
  const isDemoAlone = flags.demo && given === undefined &&
    flags["oidc-clients"] === undefined && flags["gate-host"].length === 0;
  if (isDemoAlone) {
    const keys = await readProviderKeys(await generateProviderKeys());
    return { keys, warnings: [] };
  }
  const path = given ?? defaultKeysPath(io);
  const keys = await readOrMakeKeys(path, given === undefined, io);
  const mode = await io.fileMode(path) ?? 0;
  const isOpen = (mode & 0o077) !== 0;
  const open =
    "others on this machine may open the file of --oidc-keys: chmod 600";
  return { keys, warnings: isOpen ? [open] : [] };
}

async function readOrMakeKeys(path: string, makeFolder: boolean, io: ServerIo) {
  const read = async () =>
    new TextDecoder().decode(await io.readFile(path, MAX_KEYS_BYTES));
  try {
    return await readProviderKeys(await read());
  } catch (error) {
    const isMissing = isSigError(error, "source_not_found") &&
      error.cause instanceof Deno.errors.NotFound;
    if (!isMissing) throw error;
  }
  const text = await generateProviderKeys();
  try {
    await io.createPrivateFile(path, text, { makeFolder });
  } catch (error) {
    // Another process has created the file, whose keys are used.
    const isThere = error instanceof SigError &&
      error.cause instanceof Deno.errors.AlreadyExists;
    if (!isThere) throw error;
  }
  return await readProviderKeys(await read());
}

function defaultKeysPath(io: ServerIo): string {
  const data = dataFolder(io.env);
  if (data.folder !== undefined) return `${data.folder}/oidc-keys.json`;
  throw usageError(
    `there is no place for the keys of the OpenID Provider: ${data.why}`,
    {
      flag: "--oidc-keys",
      hint: "Name a file that only you can read: --oidc-keys keys.json.",
    },
  );
}

/** The names of people; user names are unique. */
interface PersonNames extends Naming {
  /** The number of people. */
  readonly size: number;
}

/** Maximum length of a name in characters. */
const MAX_NAME_LENGTH = 200;

/**
 * Reads the people file. Without a user name, the name is the user name if
 * nobody else has it. Programs may identify people by it despite OIDC Core §5.7,
 * so a user name in the form of the digest that replaces missing names is a
 * fault.
 *
 * @throws {SigError} `invalid_request`, which lists every invalid row.
 */
export function readPersonNames(bytes: Uint8Array, path: string): PersonNames {
  const keys = readPeople(bytes, path);
  const people = new People(keys);
  const faults = peopleFaults(path, "--people");
  /** The people of each user name, and of each name without a user name. */
  const users = new Map<string, Set<string>>();
  for (const { name, row = 1, subject, username } of keys) {
    for (const text of new Set([name ?? "", username ?? ""])) {
      if (text.length > MAX_NAME_LENGTH || escapeInvisible(text) !== text) {
        faults.add(
          row,
          `its name is longer than ${MAX_NAME_LENGTH} characters, or has invisible ones`,
        );
      }
      if (/^u-[0-9a-f]{16}$/.test(foldUsername(text))) {
        faults.add(row, "its name has the form of a digest");
      }
      const of = users.get(foldUsername(text)) ?? new Set();
      users.set(foldUsername(text), of.add(people.keyOf(subject)));
    }
  }
  faults.sort().throwIfAny();
  const nameOf = (subject: string) => people.named(subject).name ?? undefined;
  return {
    nameOf,
    usernameOf(subject) {
      const { username } = people.named(subject);
      if (username !== null) return username;
      const name = nameOf(subject);
      const isUnique = name !== undefined &&
        users.get(foldUsername(name))?.size === 1;
      return isUnique ? name : undefined;
    },
    size: keys.length,
  };
}
