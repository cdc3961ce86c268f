/** The demo of a process: an issuer, two applications, and a story on the page. @module */

import { usageError } from "@sig/api/flags";
import type { App, RequestLogEntry } from "@sig/api/http";
import type { ServerIo } from "@sig/api/server";
import { findIssuerIdentifier } from "../openid/discovery.ts";
import {
  type DemoAppsOptions,
  type Settings,
  startDemoApps,
} from "./demo_apps.ts";
import { createDemoIssuer, DEMO_REQUIRE } from "./demo_issuer.ts";
import { wrapDemo } from "./demo_routes.ts";

/** What {@linkcode startDemo} works with. */
interface DemoOptions
  extends
    Pick<DemoAppsOptions, "address" | "settings">,
    Pick<ServerIo, "serve" | "now"> {
  /** Where the server listens. */
  readonly url: string;
  /** Who sign-ins are for. */
  readonly audiences: readonly string[];
  /** What a sign-in needs (default: to be an employee). */
  readonly require: readonly string[] | undefined;
  /** What a sign-in on the page asks to learn. */
  readonly scopes: readonly string[];
  /** Gets requests. */
  readonly log: Log;
}

type Log = ((entry: RequestLogEntry) => void) | undefined;

/** A demo. */
export interface Demo {
  /** What the login needs to know: its issuer is like any other, on loopback. */
  readonly options: {
    readonly issuers: readonly string[];
    readonly require: readonly string[];
    readonly allowPrivate: true;
    /** The issuer is a new one in each process. */
    readonly pins: undefined;
    readonly requirePin: undefined;
    readonly log: Log;
  };
  /** The provider's settings, with both applications; undefined without them. */
  readonly settings: Settings | undefined;
  /** Puts the demo around the login. */
  wrap(login: App): App;
  /** Stops the applications. */
  close(): Promise<void>;
}

/**
 * Starts it. Nothing of it outlives the process. Applications need an audience
 * that is an origin, where people can log in.
 *
 * @throws {SigError} `invalid_request` if the applications can't listen, or if
 *   no issuer can be named after the address.
 */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { url, audiences, settings, serve, address, now } = options;
  if (address.hostname.includes(":")) {
    throw usageError(
      "--demo makes an issuer at --addr, and no did:web names an IPv6 address",
      { flag: "--demo", hint: "Use --addr 127.0.0.1:PORT." },
    );
  }
  const issuer = await createDemoIssuer({ origin: url, now });
  const login = findIssuerIdentifier(audiences);
  const apps = login === undefined
    ? undefined
    : await startDemoApps({ login, issuer, settings, serve, address, now });
  const require = options.require ?? DEMO_REQUIRE;
  return {
    options: {
      issuers: [issuer.did],
      require,
      allowPrivate: true,
      pins: undefined,
      requirePin: undefined,
      log: withoutPolls(options.log),
    },
    settings: apps?.settings,
    wrap: (app) =>
      wrapDemo(app, {
        issuer,
        apps: apps?.apps ?? [],
        config: { require, scopes: options.scopes },
      }),
    close: async () => await apps?.close(),
  };
}

/** Proxies ask each second for every open page. */
const POLLED = "/forward-auth";

/**
 * The log without what goes well each second: a terminal would show nothing
 * else.
 *
 * @example
 * ```ts
 * import { withoutPolls } from "./start_demo.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const logged: string[] = [];
 * const log = withoutPolls(({ path }) => logged.push(path));
 * const entry = {
 *   time: "2026-01-31T09:00:00Z",
 *   level: "info",
 *   service: "sig-web",
 *   request_id: "1",
 *   method: "GET",
 *   status: 200,
 *   duration_ms: 1,
 * } as const;
 * log?.({ ...entry, path: "/forward-auth" });
 * log?.({ ...entry, path: "/forward-auth", status: 401 });
 * log?.({ ...entry, path: "/healthz" });
 * assertEquals(logged, ["/forward-auth", "/healthz"]);
 * ```
 */
export function withoutPolls(log: Log): Log {
  return log && ((entry) => {
    if (entry.status >= 400 || entry.path !== POLLED) log(entry);
  });
}
