/**
 * The command `sig-web`: its flags and their effects (docs/reference/http.md).
 * It is for the packages of this project and is not covered by semantic
 * versioning.
 *
 * @example
 * ```ts
 * import { webProgram } from "@sig/web/sig-web";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(webProgram.name, "sig-web");
 * ```
 *
 * @module
 */

import {
  address,
  duration,
  file,
  flagSpecs,
  type GivenFlags,
  many,
  optional,
  readServerFlags,
  readStorePassword,
  readValues,
  requireOnlyHere,
  SERVER_FLAGS,
  type ServerIo,
  type ServerProgram,
  type Startup,
  text,
  toggle,
  usageError,
  type Values,
  type ValueType,
} from "@sig/api/program";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Demo } from "./demo/start_demo.ts";
import type { OpenIdProgram } from "./openid/start_openid.ts";
import { VERSION } from "./version.ts";

/** An origin in the form that browsers send, or a DID. */
const audience: ValueType<string> = {
  placeholder: "ORIGIN|DID",
  parse(text, flag) {
    const isOrigin = /^https?:/.test(text) && URL.parse(text)?.origin === text;
    if (isOrigin || /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/.test(text)) return text;
    throw usageError(`${flag} ${quote(text)} must be an origin or a DID`, {
      flag,
      hint: "For example: https://login.acme.example, without a path.",
    });
  },
};

/** A duration from `minMs` to `maxMs`, in steps of `stepMs`. */
function durationWithin(
  minMs: number,
  maxMs: number,
  range: string,
  stepMs = 1,
): ValueType<number> {
  return {
    placeholder: duration.placeholder,
    parse(text, flag) {
      const ms = duration.parse(text, flag);
      if (ms >= minMs && ms <= maxMs && ms % stepMs === 0) return ms;
      throw usageError(`${flag} must be ${range}`, { flag });
    },
  };
}

/** Flags that only the OpenID Provider uses. */
const OPENID_FLAGS = {
  "oidc-keys": optional(
    file,
    "the provider's private keys; created at the first start",
  ),
  people: optional(
    file,
    "CSV with subject, person, name, username; SIGHUP reads it again",
    { mistaken: ["names"] },
  ),
  session: optional(
    durationWithin(60_000, 30 * 86_400_000, "from 1m to 30d"),
    "lifetime of a session, 1m to 30d (default: 8h)",
  ),
  recheck: optional(
    durationWithin(1_000, Infinity, "at least 1s"),
    "interval between checks of sessions (default: --max-age, at least 1s; 30s if that is 0)",
  ),
  grace: optional(
    duration,
    "how long sessions continue while the issuer does not answer (default: 1h; 0s: not at all)",
  ),
};

const FLAGS = {
  addr: optional(
    address,
    "where to listen (default: 127.0.0.1:8788); port 0 takes any",
  ),
  audience: many(
    audience,
    "origin or DID that logins are for (default: the listen address; required for other addresses)",
  ),
  issuer: many(
    text,
    "issuer that the page shows; with --require, the issuer of the required relationship",
    { placeholder: "DID|HOST" },
  ),
  require: many(text, "requirement of a login, such as relationship=employee", {
    placeholder: "KEY=VALUE",
  }),
  scope: many(text, "scope that a login on the page requests (default: none)", {
    placeholder: "SCOPE",
  }),
  store: optional(text, "store of challenges and sessions (default: memory)", {
    placeholder: "memory|kv:PATH|redis://…",
  }),
  "store-password-file": optional(
    file,
    "password of redis://… (default: SIG_REDIS_PASSWORD)",
  ),
  ttl: optional(
    durationWithin(
      MIN_TTL_SECONDS * 1000,
      MAX_TTL_SECONDS * 1000,
      "whole seconds from 30s to 15m",
      1_000,
    ),
    "lifetime of a challenge, 30s to 15m (default: 5m)",
  ),
  "max-age": optional(
    duration,
    "how old an issuer's state may be (default: 0s, which asks each time)",
  ),
  "oidc-clients": optional(
    file,
    "applications of the OpenID Provider; SIGHUP reads it again",
  ),
  "gate-host": many(text, "host protected by forward auth; see sig export", {
    placeholder: "HOST[:PORT]",
  }),
  ...OPENID_FLAGS,
  demo: toggle(
    "run a demo issuer and two demo applications, on this machine only",
  ),
};

type WebValues = Values<typeof FLAGS>;

/** The program of `sig-web` and `sig web`. */
export const webProgram: ServerProgram = {
  name: "sig-web",
  version: VERSION,
  summary: "logs people in by their keys, with a page to try it",
  flags: [...flagSpecs(FLAGS), ...SERVER_FLAGS],
  examples: [
    "sig-web --demo",
    "sig-web --issuer acme.example --require relationship=employee",
    "sig-web --issuer acme.example --require relationship=employee --oidc-clients clients.json",
    "sig-web --addr 0.0.0.0:8788 --public --audience https://login.acme.example",
  ],
  start,
};

async function start(given: GivenFlags, io: ServerIo): Promise<Startup> {
  const settings = readServerFlags(given, "127.0.0.1:8788", io);
  const flags = readValues(FLAGS, given);
  const { audience: audiences, demo: isDemo, store: storeText = "memory" } =
    flags;
  if (isDemo) requireOnlyHere("--demo", settings.exposure);
  if (isDemo && flags.issuer.length > 0) {
    throw usageError("--demo has its own issuer", {
      flag: "--issuer",
      hint: "Leave out --issuer or --demo.",
    });
  }
  if (!settings.isLocal) requirePublic(audiences, given);
  const { password, warnings } = await readStorePassword({
    flag: "--store",
    store: storeText,
    fileFlag: "--store-password-file",
    file: flags["store-password-file"],
  }, io);
  const openid = await readOpenIdFlags(flags, io, settings.log);
  const { openStore } = await import("@sig/consumer/store");
  const store = await openStore(storeText, { password });
  const { pins, requirePin, warnings: ofPins } = await settings.openPins();
  const named = audiences.flatMap((each) => URL.parse(each)?.host || []);
  let demo: Demo | undefined;
  const options = {
    issuers: flags.issuer,
    require: flags.require.length > 0 ? flags.require : undefined,
    scopes: await readScopes(flags.scope),
    store,
    pins,
    requirePin,
    ttlSeconds: flags.ttl && flags.ttl / 1000,
    maxAgeMs: flags["max-age"],
    ...settings.service,
    hosts: settings.service.hosts && [...settings.service.hosts, ...named],
    now: io.now,
  };
  return {
    address: settings.address,
    log: settings.log,
    async createApp(url, log) {
      const { createApp } = await import("./app.ts");
      const { findTelemetry } = await import("@sig/api/internal/http");
      const telemetry = findTelemetry(VERSION);
      const own = audiences.length > 0 ? audiences : [url];
      if (isDemo && openid !== undefined) {
        const { startDemo } = await import("./demo/start_demo.ts");
        demo = await startDemo({
          ...options,
          url,
          audiences: own,
          log,
          serve: io.serve,
          settings: openid.settings,
          address: settings.address,
        });
      }
      // A demo without applications needs no provider.
      const isNeeded = demo === undefined || isProviderAsked(flags);
      const provided = demo?.settings ??
        (isNeeded ? openid?.settings : undefined);
      const app = createApp({
        ...options,
        audiences: own,
        openid: provided && openid?.createProvider(provided),
        log,
        telemetry,
        ...demo?.options,
      });
      if (app.provider !== undefined) openid?.begin(app.provider, telemetry);
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

function requirePublic(audiences: readonly string[], given: GivenFlags): void {
  const flag = given.nameOf?.("audience") ?? "--audience";
  if (audiences.length === 0) {
    throw usageError(
      `${flag} is required if other machines can reach the server`,
      {
        flag,
        hint: "Give the origin that browsers use: https://login.acme.example.",
      },
    );
  }
  if (!given.on("public")) {
    throw usageError("a server that others can reach needs --public", {
      flag: "--public",
    });
  }
}

async function readScopes(
  texts: readonly string[],
): Promise<readonly string[]> {
  if (texts.length === 0) return texts;
  // A dynamic import, so that --help and --version load no cryptography.
  const { isScopeToken } = await import("@sig/jose");
  const wrong = texts.find((text) => !isScopeToken(text));
  if (wrong === undefined) return texts;
  throw usageError(
    `--scope ${
      quote(wrong)
    } must be printable ASCII without space, quote and backslash`,
    {
      flag: "--scope",
      hint: "Repeat the flag for each scope: --scope profile.",
    },
  );
}

/**
 * Reads the provider's flags and loads the provider. Returns undefined where no
 * flag requests one.
 *
 * @throws {SigError} `invalid_request` for a flag without those that it needs;
 * the codes of `startOpenId`.
 */
async function readOpenIdFlags(
  flags: WebValues,
  io: ServerIo,
  log: "json" | "text" | "off",
): Promise<OpenIdProgram | undefined> {
  if (isProviderAsked(flags) || flags.demo) {
    const { startOpenId } = await import("./openid/start_openid.ts");
    return await startOpenId({ ...flags, log }, io);
  }
  const names = Object.keys(OPENID_FLAGS) as (keyof typeof OPENID_FLAGS)[];
  const given = names.find((name) => flags[name] !== undefined);
  if (given === undefined) return undefined;
  throw usageError(`--${given} needs --oidc-clients or --gate-host`, {
    flag: `--${given}`,
  });
}

/** Whether the operator's own applications use the provider. */
function isProviderAsked(flags: WebValues): boolean {
  return flags["gate-host"].length > 0 || flags["oidc-clients"] !== undefined;
}
