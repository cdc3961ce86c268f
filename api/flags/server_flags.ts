/** The flags that both servers have (INTERFACES §3, §4). @module */

import { quote } from "@sig/core";
import { type Address, isLoopback, parseAddress } from "./address.ts";
import type { FlagSpec, GivenFlags } from "./flag_spec.ts";
import { findPublicSign, type PublicSign } from "./public_sign.ts";
import { usageError } from "./usage_error.ts";

/** Flags of every server, in the order of its help. */
export const SERVER_FLAGS: readonly FlagSpec[] = Object.freeze([
  {
    name: "public",
    help: "answer everyone, where --addr is not this machine alone",
  },
  {
    name: "host",
    value: "NAME",
    help: "a further name that this server is called by",
    repeat: true,
  },
  {
    name: "rate-limit",
    value: "N/s",
    help: "requests that one address may send in a second; off unless told",
  },
  {
    name: "trust-proxy",
    value: "NETWORK",
    help: "believe X-Forwarded-For of proxies there, such as 10.0.0.0/8",
    repeat: true,
  },
  {
    name: "max-concurrent",
    value: "N",
    help: "requests answered at a time; 512 unless told",
  },
  {
    name: "log",
    value: "json|text|off",
    help:
      "one line a request, to standard error; text on a terminal and json elsewhere unless told",
    choices: ["json", "text", "off"],
  },
  {
    name: "allow-insecure",
    help: "let issuers be http: and private addresses; for tests",
  },
]);

/** What {@linkcode readServerFlags} makes of them. */
export interface ServerSettings {
  /** Where to listen. */
  readonly address: Address;
  /** Whether it listens where only this machine can connect. */
  readonly isLocal: boolean;
  /**
   * What says that others reach it, by way of a proxy too; undefined: it is for
   * this machine alone.
   */
  readonly publicSign: PublicSign | undefined;
  /** The Host list; undefined: every name. */
  readonly hosts: readonly string[] | undefined;
  /** As given. */
  readonly rateLimit: { readonly perSecond: number } | undefined;
  /** As given. */
  readonly trustProxy: readonly string[];
  /** As given. */
  readonly maxConcurrent: number | undefined;
  /** As given; unless told `text` for a terminal, else `json`. */
  readonly log: "json" | "text" | "off";
  /** As given. */
  readonly allowInsecure: boolean;
}

/**
 * Reads the common flags, and of the programs' own those that say whom the
 * server is for (`--audience`, `--public-url`).
 *
 * @param defaultAddress Where to listen unless told.
 * @param isTerminal Whether a person reads the log: then it is text unless told.
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function readServerFlags(
  flags: GivenFlags,
  defaultAddress: string,
  isTerminal = false,
): ServerSettings {
  const address = parseAddress(flags.text("addr") ?? defaultAddress);
  const isLocal = isLoopback(address.hostname);
  const allowInsecure = flags.on("allow-insecure");
  const named = flags.texts("host");
  const publicSign = findPublicSign({
    address,
    audiences: flags.texts("audience"),
    publicUrl: flags.text("public-url"),
    trustProxy: flags.texts("trust-proxy"),
    hosts: named,
  });
  if (allowInsecure) requireOnlyHere("--allow-insecure", publicSign);
  return {
    address,
    isLocal,
    publicSign,
    hosts: isLocal
      ? [...LOOPBACK_HOSTS, hostOf(address), ...named]
      : named.length > 0
      ? named
      : undefined,
    rateLimit: parseRate(flags.text("rate-limit")),
    trustProxy: flags.texts("trust-proxy"),
    maxConcurrent: parseCount("--max-concurrent", flags.text("max-concurrent")),
    log:
      (flags.text("log") ?? (isTerminal ? "text" : "json")) as ServerSettings[
        "log"
      ],
    allowInsecure,
  };
}

/**
 * Refuses a flag where others reach the server.
 *
 * @param flag Such as `--demo`.
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function requireOnlyHere(
  flag: string,
  sign: PublicSign | undefined,
): void {
  if (sign === undefined) return;
  throw usageError(
    `${flag} is for servers that only this machine can reach`,
    {
      flag,
      hint: sign.flag === "--addr"
        ? "Use --addr 127.0.0.1:PORT."
        : `${sign.flag} ${quote(sign.value)} says that others do.`,
    },
  );
}

/** What {@linkcode serviceOptionsOf} makes of the settings. */
export interface FlaggedServiceOptions {
  /** Whether http: and private addresses may be asked. */
  readonly allowPrivate: boolean;
  /** The Host list; undefined: every name. */
  readonly hosts: readonly string[] | undefined;
  /** How often one client may ask. */
  readonly rateLimit: { readonly perSecond: number } | undefined;
  /** Networks whose `X-Forwarded-For` is believed. */
  readonly trustProxy: readonly string[];
  /** Requests answered at a time. */
  readonly maxConcurrent: number | undefined;
}

/** The settings as the options of both servers' `createApp`. */
export function serviceOptionsOf(
  settings: ServerSettings,
): FlaggedServiceOptions {
  const { allowInsecure, hosts, rateLimit, trustProxy, maxConcurrent } =
    settings;
  return {
    allowPrivate: allowInsecure,
    ...{ hosts, rateLimit, trustProxy, maxConcurrent },
  };
}

/** The names that a server on this machine is called by. */
export const LOOPBACK_HOSTS: readonly string[] = Object.freeze([
  "localhost",
  "127.0.0.1",
  "[::1]",
]);

function hostOf({ hostname }: Address): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function parseRate(text: string | undefined) {
  if (text === undefined) return undefined;
  const perSecond = Number(/^(\d{1,6})\/s$/.exec(text)?.[1]);
  if (perSecond >= 1) return { perSecond };
  throw usageError("--rate-limit must be a number of requests a second", {
    flag: "--rate-limit",
    hint: "For example: 20/s.",
  });
}

function parseCount(
  flag: string,
  text: string | undefined,
): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1) return count;
  throw usageError(`${flag} must be a number from 1 to 999999`, { flag });
}
