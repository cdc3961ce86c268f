/** The flags that both servers share (docs/reference/http.md). @module */

import { quote } from "@sig/core/internal";
import {
  type Address,
  count,
  file,
  isLoopback,
  oneOf,
  parseAddress,
  rate,
  text,
} from "./values.ts";
import {
  type FlagSpec,
  flagSpecs,
  type GivenFlags,
  many,
  optional,
  readValues,
  toggle,
  usageError,
  type Values,
} from "./flag.ts";
import type { PinStore } from "@sig/consumer/pins";
import type { OpenStoreOptions } from "@sig/consumer/store";
import type { ProcessIo } from "./io.ts";
import { operatorLine } from "./log.ts";
import { readStorePassword } from "./store_password.ts";

const FLAGS = {
  config: optional(
    file,
    "file of settings, YAML or JSON (max_age: 5m); variables override it, and flags override both",
  ),
  pins: optional(
    file,
    "where the named issuers are remembered, with other servers (default: this process)",
    { placeholder: "FILE|kv:PATH|redis://HOST" },
  ),
  "require-pin": toggle(
    "with --pins: refuse named issuers that it does not hold yet",
  ),
  public: toggle("allow unauthenticated access from other machines"),
  host: many(text, "a further name that this server is called by", {
    placeholder: "NAME",
  }),
  "rate-limit": optional(
    rate,
    "requests that one address may send in a second (default: unlimited)",
  ),
  "trust-proxy": many(
    text,
    "believe X-Forwarded-For of proxies there, such as 10.0.0.0/8",
    { placeholder: "NETWORK" },
  ),
  "max-concurrent": optional(
    count,
    "requests answered at a time (default: 512)",
  ),
  log: optional(
    oneOf("json", "text", "off"),
    "one line a request, to standard error (default: text on a terminal, else json)",
  ),
  "allow-insecure": toggle(
    "let issuers be http: and private addresses; for tests",
  ),
};

/** Flags of every server, in the order of its help. */
export const SERVER_FLAGS: readonly FlagSpec[] = Object.freeze(
  flagSpecs(FLAGS),
);

/** The settings that {@linkcode readServerFlags} returns. */
export interface ServerSettings {
  /** The address to listen on. */
  readonly address: Address;
  /** Whether it listens on a loopback address. */
  readonly isLocal: boolean;
  /**
   * The flag that makes it reachable for others, including through a proxy;
   * undefined if only this machine can reach it.
   */
  readonly exposure: Exposure | undefined;
  /** The log format (default: `text` for a terminal, otherwise `json`). */
  readonly log: "json" | "text" | "off";
  /** Options for `createApp` of both servers. */
  readonly service: {
    /** Whether http: and private addresses may be queried. */
    readonly allowPrivate: boolean;
    /** The Host list; undefined allows every name. */
    readonly hosts: readonly string[] | undefined;
    /** The rate limit of one client. */
    readonly rateLimit: { readonly perSecond: number } | undefined;
    /** Networks of proxies whose `X-Forwarded-For` is trusted. */
    readonly trustProxy: readonly string[];
    /** Whether only this machine can reach the server. */
    readonly onlyLocal: boolean;
    /** Maximum number of requests processed concurrently. */
    readonly maxConcurrent: number | undefined;
  };
  /**
   * Opens the pin store of `--pins`. If others can reach the server, its
   * responses don't contain the path of the store; only the operator's log does.
   *
   * @throws {SigError} `invalid_request`; `store_unavailable` with its
   * location.
   */
  openPins(): Promise<ServerPins>;
}

/** The pin store of a server. */
export interface ServerPins {
  /** The store; undefined to keep pins in the process only. */
  readonly pins: PinStore | undefined;
  /** Whether an issuer without a pin in the store is an error. */
  readonly requirePin: boolean;
  /** Warnings for the operator. */
  readonly warnings: readonly string[];
}

/** The text that replaces a path or an address in responses. */
const SHOWN_AS = "of this server";

/**
 * Reads the common flags, and those program-specific flags that say whether the
 * server is public (`--audience`, `--public-url`).
 *
 * @param defaultAddress The address to listen on by default.
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function readServerFlags(
  flags: GivenFlags,
  defaultAddress: string,
  io: ProcessIo,
): ServerSettings {
  const given = readValues(FLAGS, flags);
  const log = given.log ?? (io.isTerminal("stderr") ? "text" : "json");
  const address = parseAddress(flags.text("addr") ?? defaultAddress);
  const isLocal = isLoopback(address.hostname);
  const allowInsecure = given["allow-insecure"];
  const named = given.host;
  const exposure = findExposure(address, flags);
  if (allowInsecure) requireOnlyHere("--allow-insecure", exposure);
  return {
    address,
    isLocal,
    exposure,
    log,
    service: {
      allowPrivate: allowInsecure,
      hosts: isLocal
        ? [...LOOPBACK_HOSTS, hostOf(address), ...named]
        : named.length > 0
        ? named
        : undefined,
      rateLimit: given["rate-limit"],
      trustProxy: given["trust-proxy"],
      onlyLocal: exposure === undefined,
      maxConcurrent: given["max-concurrent"],
    },
    openPins: () =>
      openPins(
        given,
        io,
        exposure && {
          shownAs: SHOWN_AS,
          tell: (message) => io.stderr(operatorLine(message, log, io.now())),
        },
      ),
  };
}

async function openPins(
  { pins: text, "require-pin": requirePin }: Values<typeof FLAGS>,
  io: ProcessIo,
  shown: OpenStoreOptions = {},
): Promise<ServerPins> {
  if (text === undefined) {
    if (!requirePin) return { pins: undefined, requirePin, warnings: [] };
    throw usageError("--require-pin goes with --pins", {
      flag: "--require-pin",
    });
  }
  const { openPinStore } = await import("@sig/consumer/pins");
  const flags = { flag: "--pins", store: text };
  const { password, warnings } = await readStorePassword(flags, io);
  const pins = await openPinStore(text, { password, ...shown });
  return { pins, requirePin, warnings };
}

/**
 * Rejects a flag if others can reach the server.
 *
 * @param flag The flag, such as `--demo`.
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function requireOnlyHere(
  flag: string,
  exposure: Exposure | undefined,
): void {
  if (exposure === undefined) return;
  throw usageError(
    `${flag} is for servers that only this machine can reach`,
    {
      flag,
      hint: exposure.flag === "--addr"
        ? "Use --addr 127.0.0.1:PORT."
        : `${exposure.flag} ${quote(exposure.value)} says that others do.`,
    },
  );
}

/** The names of a server on this machine. */
const LOOPBACK_HOSTS: readonly string[] = Object.freeze([
  "localhost",
  "127.0.0.1",
  "[::1]",
]);

function hostOf({ hostname }: Address): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** A flag whose value makes a server reachable for others. */
export interface Exposure {
  /** The flag, such as `--audience`. */
  readonly flag: string;
  /** Its value. */
  readonly value: string;
}

/** The flags that can make a server public, and which values do not. */
const EXPOSING: { readonly [flag: string]: (value: string) => boolean } = {
  audience: isLocalAudience,
  "public-url": isLocalUrl,
  "trust-proxy": () => false,
  host: (name) => isLocalUrl(`http://${name}`),
};

/**
 * Returns the first flag that makes a server reachable from other machines;
 * undefined for a local server. The bind address is not enough: behind a proxy
 * or a tunnel a public server listens on loopback, but has a public audience,
 * URL or host name, or a trusted proxy. A value that can't be parsed counts as
 * public.
 */
export function findExposure(
  { hostname }: Address,
  flags: Pick<GivenFlags, "texts">,
): Exposure | undefined {
  if (!isLoopback(hostname)) return { flag: "--addr", value: hostname };
  for (const [flag, isLocal] of Object.entries(EXPOSING)) {
    const value = flags.texts(flag).find((each) => !isLocal(each));
    if (value !== undefined) return { flag: `--${flag}`, value };
  }
  return undefined;
}

/**
 * Returns whether an audience is an origin of this machine, or a did:web with
 * such a host.
 */
function isLocalAudience(audience: string): boolean {
  const host = /^did:web:([^:]+)/.exec(audience)?.[1];
  if (host === undefined) return isLocalUrl(audience);
  return isLocalUrl(`http://${host.replaceAll(/%3a/gi, ":")}`);
}

function isLocalUrl(url: string): boolean {
  const { hostname } = URL.parse(url) ?? { hostname: "" };
  return isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
}
