/**
 * The server as a program: its flags, and what they mean (docs/reference/http.md).
 *
 * @example
 * ```ts
 * import { webProgram } from "@sig/web/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(webProgram.name, "sig-web");
 * ```
 *
 * @module
 */

import {
  type FlagSpec,
  type GivenFlags,
  openServerPins,
  parseDuration,
  readServerFlags,
  requireOnlyHere,
  SERVER_FLAGS,
  SERVER_PIN_FLAGS,
  usageError,
} from "@sig/api/flags";
import { operatorLine } from "@sig/api/server";
import type { ServerIo, ServerProgram, Startup } from "@sig/api/server";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Demo } from "./demo/start_demo.ts";
import type { OpenIdProgram } from "./openid/start_openid.ts";
import { readStorePassword } from "./store_password.ts";
import { VERSION } from "./version.ts";

const FLAGS: readonly FlagSpec[] = [
  {
    name: "addr",
    value: "HOST:PORT",
    help: "where to listen (default: 127.0.0.1:8788); port 0 takes any",
  },
  {
    name: "audience",
    value: "ORIGIN|DID",
    help:
      "origin or DID that logins are for (default: the listen address; required for other addresses)",
    repeat: true,
  },
  {
    name: "issuer",
    value: "DID|HOST",
    help: "an issuer that the page shows; with --require the one that is asked",
    repeat: true,
  },
  {
    name: "require",
    value: "KEY=VALUE",
    help: "log in only with this relationship, such as relationship=employee",
    repeat: true,
  },
  {
    name: "scope",
    value: "SCOPE",
    help: "what a login on the page asks to learn (default: nothing)",
    repeat: true,
  },
  {
    name: "store",
    value: "memory|kv:PATH|redis://…",
    help: "where challenges and sessions are kept (default: memory)",
  },
  {
    name: "store-password-file",
    value: "FILE",
    help: "holds the password of redis://…; else SIG_REDIS_PASSWORD does",
  },
  {
    name: "ttl",
    value: "DURATION",
    help: "how long a challenge lives, 30s to 15m (default: 5m)",
  },
  {
    name: "max-age",
    value: "DURATION",
    help:
      "how old an issuer's state may be (default: 0s, which asks each time)",
  },
  {
    name: "oidc-clients",
    value: "FILE",
    help: "be an OpenID Provider for these applications; SIGHUP reads it again",
  },
  {
    name: "gate-host",
    value: "HOST[:PORT]",
    help: "host protected by forward auth; see sig export",
    repeat: true,
  },
  {
    name: "oidc-keys",
    value: "FILE",
    help: "the provider's private keys; made at the first start",
  },
  {
    name: "names",
    value: "FILE",
    help:
      "CSV of subject,name,username for applications; SIGHUP reads it again",
  },
  {
    name: "session",
    value: "DURATION",
    help: "how long people stay logged in, 1m to 30d (default: 8h)",
  },
  {
    name: "recheck",
    value: "DURATION",
    help:
      "how often they are checked (default: --max-age, at least 1s; 30s if that is 0)",
  },
  {
    name: "grace",
    value: "DURATION",
    help:
      "how long sessions continue while the issuer gives no answer (default: 1h; 0s: not at all)",
  },
  {
    name: "demo",
    help: "an issuer and two applications to play with, on this machine only",
  },
  ...SERVER_PIN_FLAGS,
  ...SERVER_FLAGS,
];

/** `sig-web`, and `sig web`. */
export const webProgram: ServerProgram = {
  name: "sig-web",
  version: VERSION,
  summary: "logs people in by their keys, with a page to try it",
  flags: FLAGS,
  examples: [
    "sig-web --demo",
    "sig-web --issuer acme.example --require relationship=employee",
    "sig-web --issuer acme.example --require relationship=employee --oidc-clients clients.json",
    "sig-web --addr 0.0.0.0:8788 --public --audience https://login.acme.example",
  ],
  start,
};

async function start(flags: GivenFlags, io: ServerIo): Promise<Startup> {
  const settings = readServerFlags(
    flags,
    "127.0.0.1:8788",
    io.isTerminal("stderr"),
  );
  const audiences = flags.texts("audience").map(requireAudience);
  const isDemo = flags.on("demo");
  if (isDemo) requireOnlyHere("--demo", settings.exposure);
  if (isDemo && flags.texts("issuer").length > 0) {
    throw usageError("--demo has its own issuer", {
      flag: "--issuer",
      hint: "Leave out --issuer or --demo.",
    });
  }
  if (!settings.isLocal) requirePublic(flags, audiences);
  const { password, warnings } = await readStorePassword(flags, io);
  const openid = await readOpenIdFlags(flags, io, settings.log);
  const storeText = flags.text("store") ?? "memory";
  const { openStore } = await import("@sig/consumer/store");
  const store = await openStore(storeText, { password });
  const { pins, requirePin, warnings: ofPins } = await openServerPins(
    flags,
    io,
    {
      exposure: settings.exposure,
      tell: (message) =>
        io.stderr(operatorLine(message, settings.log, io.now())),
    },
  );
  const named = audiences.flatMap(hostOf);
  let demo: Demo | undefined;
  const options = {
    issuers: flags.texts("issuer"),
    require: flags.texts("require").length > 0
      ? flags.texts("require")
      : undefined,
    scopes: await readScopes(flags.texts("scope")),
    // One in memory never makes anybody wait.
    store: storeText === "memory" ? undefined : store,
    pins,
    requirePin,
    ttlSeconds: readTtl(flags.text("ttl")),
    maxAgeMs: parseDuration("--max-age", flags.text("max-age")),
    ...settings.service,
    hosts: settings.service.hosts && [...settings.service.hosts, ...named],
    now: io.now,
  };
  return {
    address: settings.address,
    log: settings.log,
    async createApp(url, log) {
      const { createApp } = await import("./app.ts");
      const own = audiences.length > 0 ? audiences : [url];
      if (isDemo && openid !== undefined) {
        const { startDemo } = await import("./demo/start_demo.ts");
        demo = await startDemo({
          ...{ url, audiences: own, settings: openid.settings, log },
          ...{ address: settings.address, serve: io.serve, now: io.now },
          ...{ require: options.require, scopes: options.scopes },
        });
      }
      // A demo whose applications nobody can log in to needs no provider.
      const isNeeded = demo === undefined || isProviderAsked(flags);
      const provided = demo?.settings ??
        (isNeeded ? openid?.settings : undefined);
      const app = createApp({
        ...options,
        audiences: own,
        openid: provided,
        log,
        ...demo?.options,
      });
      if (app.provider !== undefined) openid?.begin(app.provider);
      return demo?.wrap(app) ?? app;
    },
    warnings: [...warnings, ...ofPins, ...openid?.warnings ?? []],
    notes: (url) => [`The page is at ${url}/. Stop it with Ctrl-C.`],
    async close() {
      await demo?.close();
      await openid?.close();
      await store.close();
      await pins?.close();
    },
  };
}

function requirePublic(flags: GivenFlags, audiences: readonly string[]): void {
  if (audiences.length === 0) {
    throw usageError("--audience is required where others can reach --addr", {
      flag: "--audience",
      hint: "Name the origin that people see: https://login.acme.example.",
    });
  }
  if (!flags.on("public")) {
    throw usageError("a server that others can reach needs --public", {
      flag: "--public",
    });
  }
}

/** An origin, spelled as browsers do, or a DID. */
function requireAudience(text: string): string {
  const isOrigin = /^https?:/.test(text) && URL.parse(text)?.origin === text;
  if (isOrigin || /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/.test(text)) return text;
  throw usageError(
    `--audience ${quote(text)} must be an origin or a DID`,
    {
      flag: "--audience",
      hint: "For example: https://login.acme.example, with no path behind it.",
    },
  );
}

async function readScopes(
  texts: readonly string[],
): Promise<readonly string[]> {
  if (texts.length === 0) return texts;
  // Loaded here, so that help and version need no cryptography.
  const { isScopeToken } = await import("@sig/jose");
  const wrong = texts.find((text) => !isScopeToken(text));
  if (wrong === undefined) return texts;
  throw usageError(
    `--scope ${
      quote(wrong)
    } must be printable ASCII without space, quote and backslash`,
    { flag: "--scope", hint: "Name each one by itself: --scope profile." },
  );
}

function hostOf(audience: string): readonly string[] {
  const host = URL.parse(audience)?.host;
  return host === undefined || host === "" ? [] : [host];
}

function readTtl(text: string | undefined): number | undefined {
  const ms = parseDuration("--ttl", text);
  if (ms === undefined) return undefined;
  const seconds = ms / 1000;
  if (
    Number.isInteger(seconds) && seconds >= MIN_TTL_SECONDS &&
    seconds <= MAX_TTL_SECONDS
  ) return seconds;
  throw usageError("--ttl must be whole seconds from 30s to 15m", {
    flag: "--ttl",
  });
}

/**
 * Reads the provider's flags, and loads it where there is one: undefined
 * elsewhere.
 *
 * @throws {SigError} `invalid_request` for flags that need others, and as
 * `startOpenId`.
 */
async function readOpenIdFlags(
  flags: GivenFlags,
  io: ServerIo,
  log: "json" | "text" | "off",
): Promise<OpenIdProgram | undefined> {
  if (isProviderAsked(flags) || flags.on("demo")) {
    const { startOpenId } = await import("./openid/start_openid.ts");
    return await startOpenId(flags, io, log);
  }
  for (const flag of ["oidc-keys", "names", "session", "recheck", "grace"]) {
    if (flags.text(flag) === undefined) continue;
    throw usageError(`--${flag} goes with --oidc-clients or --gate-host`, {
      flag: `--${flag}`,
    });
  }
  return undefined;
}

/** Whether applications of the operator log people in here. */
function isProviderAsked(flags: GivenFlags): boolean {
  return flags.texts("gate-host").length > 0 ||
    flags.text("oidc-clients") !== undefined;
}
