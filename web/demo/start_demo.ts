/** The demo of a process: its issuer, and its applications. @module */

import { usageError } from "@sig/api/flags";
import type { RequestLogEntry, ServerIo } from "@sig/api/http";
import { findIssuerIdentifier } from "../openid/issuer_identifier.ts";
import type { DemoApp } from "./apps/demo_app.ts";
import {
  type DemoAppsOptions,
  type Settings,
  startDemoApps,
} from "./apps/start_apps.ts";
import { createDemoIssuer, type DemoIssuer } from "./demo_issuer.ts";

/** What {@linkcode startDemo} works with. */
export interface DemoOptions
  extends
    Pick<DemoAppsOptions, "address" | "settings">,
    Pick<ServerIo, "serve" | "now"> {
  /** Where the server listens. */
  readonly url: string;
  /** Whom it speaks for. */
  readonly audiences: readonly string[];
  /** Told of requests. */
  readonly log: Log;
}

type Log = ((entry: RequestLogEntry) => void) | undefined;

/** A demo. */
export interface Demo {
  /** Its issuer. */
  readonly issuer: DemoIssuer;
  /** Its applications; none where no audience is an origin they can log in at. */
  readonly apps: readonly DemoApp[];
  /** The provider's settings, which know them. */
  readonly settings: Settings;
  /** Told of requests, but for what goes well each second. */
  readonly log: Log;
  /** Stops the applications. */
  close(): Promise<void>;
}

/**
 * Starts it. Nothing of it outlives the process.
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
  const log = withoutPolls(options.log);
  const issuer = await createDemoIssuer({ origin: url, now });
  const login = findIssuerIdentifier(audiences);
  if (login === undefined) {
    return { issuer, apps: [], settings, log, close: () => Promise.resolve() };
  }
  const apps = await startDemoApps({
    ...{ login, issuer, settings, serve, address, now },
  });
  return { issuer, log, ...apps };
}

/** What open pages ask each second, by way of their servers too. */
const POLLS: ReadonlySet<string> = new Set(["/demo/state", "/forward-auth"]);

/**
 * The log without what goes well each second: a terminal would show nothing
 * else.
 *
 * @example
 * ```ts
 * import { withoutPolls } from "./start_demo.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const told: string[] = [];
 * const log = withoutPolls(({ path }) => told.push(path));
 * const entry = {
 *   time: "2026-01-31T09:00:00Z",
 *   level: "info",
 *   service: "sig-web",
 *   request_id: "1",
 *   method: "GET",
 *   status: 200,
 *   duration_ms: 1,
 * } as const;
 * log?.({ ...entry, path: "/demo/state" });
 * log?.({ ...entry, path: "/forward-auth", status: 401 });
 * log?.({ ...entry, path: "/healthz" });
 * assertEquals(told, ["/forward-auth", "/healthz"]);
 * ```
 */
export function withoutPolls(log: Log): Log {
  return log && ((entry) => {
    if (entry.status >= 400 || !POLLS.has(entry.path)) log(entry);
  });
}
