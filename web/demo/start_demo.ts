/** The demo of a process: an issuer, two applications, and a story on the page. @module */

import { usageError } from "@sig/api/flags";
import type { App, RequestLogEntry } from "@sig/api/http";
import type {
  Respond,
  RunningServer,
  ServerIo,
  Startup,
} from "@sig/api/server";
import { isSigError } from "@sig/core";
import { withClients } from "../openid/clients.ts";
import { findIssuerIdentifier } from "../openid/discovery.ts";
import type { ProviderSettings } from "../openid/provider.ts";
import type { AppContext, DemoApp } from "./demo_app.ts";
import {
  createDemoIssuer,
  DEMO_REQUIRE,
  type DemoIssuer,
} from "./demo_issuer.ts";
import { wrapDemo } from "./demo_routes.ts";
import { createShop, shopClients } from "./shop.ts";
import { createWiki } from "./wiki.ts";

/** What {@linkcode startDemo} works with. */
interface DemoOptions extends Pick<ServerIo, "now">, Pick<Startup, "address"> {
  /** Where the server listens. */
  readonly url: string;
  /** The origins or DIDs that sign-ins are for. */
  readonly audiences: readonly string[];
  /** What the operator says of the provider; both applications are added. */
  readonly settings: ProviderSettings;
  /** What a sign-in needs (default: to be an employee). */
  readonly require: readonly string[] | undefined;
  /** What a sign-in on the page asks to learn. */
  readonly scopes: readonly string[];
  /** Gets requests. */
  readonly log: Log;
  /** Listens. */
  readonly serve: (
    address: Startup["address"],
    respond: Respond,
  ) => Promise<Listener>;
}

type Listener = Pick<RunningServer, "url" | "shutdown">;
type Log = ((entry: RequestLogEntry) => void) | undefined;

/** A demo. */
export type Demo = Awaited<ReturnType<typeof startDemo>>;

/** Milliseconds that requests in flight get. */
const GRACE_MS = 1_000;

/**
 * Starts it. Nothing of it outlives the process. Applications need an audience
 * that is an origin, where people can log in.
 *
 * @throws {SigError} `invalid_request` if the applications can't listen, or if
 *   no issuer can be named after the address.
 */
export async function startDemo(options: DemoOptions) {
  const { url, audiences, address, now } = options;
  if (address.hostname.includes(":")) {
    throw usageError(
      "--demo makes an issuer at --addr, and no did:web names an IPv6 address",
      { flag: "--demo", hint: "Use --addr 127.0.0.1:PORT." },
    );
  }
  const issuer = await createDemoIssuer({ origin: url, now });
  const login = findIssuerIdentifier(audiences);
  const { apps, settings, listeners } = login === undefined
    ? { apps: [], settings: undefined, listeners: [] }
    : await startApps(login, issuer, options);
  const config = {
    require: options.require ?? DEMO_REQUIRE,
    scopes: options.scopes,
  };
  return {
    /** What the login needs to know: its issuer is like any other, on loopback. */
    options: {
      issuers: [issuer.did],
      require: config.require,
      allowPrivate: true,
      // The issuer is a new one in each process.
      pins: undefined,
      requirePin: undefined,
      log: withoutPolls(options.log),
    },
    /** The provider's settings, with both applications; undefined without them. */
    settings,
    /** Puts the demo around the login. */
    wrap: (app: App) => wrapDemo(app, { issuer, apps, config }),
    /** Stops the applications. */
    close: () => closeAll(listeners),
  };
}

/** Starts both, each at its own origin. */
async function startApps(
  login: string,
  issuer: DemoIssuer,
  options: DemoOptions,
) {
  const { settings } = options;
  const listeners: Listener[] = [];
  const apps: DemoApp[] = [];
  const context: AppContext = {
    links: () => [{ name: "Tour", url: `${login}/` }, ...apps],
    endOf(subject) {
      const event = issuer.lastOf(subject);
      if (event?.status !== "revoked") return undefined;
      const name = decodeURIComponent(issuer.did.slice("did:web:".length));
      return { issuer: name, sequence: event.sequence };
    },
  };

  async function open(create: typeof createShop): Promise<URL> {
    // Requests wait until the application knows its address.
    const { promise: app, resolve } = Promise.withResolvers<DemoApp>();
    const listener = await listenBehind(
      options,
      apps.length + 1,
      async (request) => await (await app).routes.fetch(request),
    );
    listeners.push(listener);
    // As the login is called, so that it is one site to the person.
    const url = new URL(listener.url);
    url.hostname = new URL(login).hostname;
    resolve(create(login, url.origin, context));
    apps.push(await app);
    return url;
  }

  try {
    const shop = await open(createShop);
    const wiki = await open(createWiki);
    return {
      apps,
      listeners,
      settings: {
        ...settings,
        clients: withClients(settings.clients, shopClients(shop.origin)),
        gateHosts: [...settings.gateHosts ?? [], wiki.host],
        nameOf: (subject: string) =>
          settings.nameOf?.(subject) ?? issuer.lastOf(subject)?.name ??
            undefined,
      },
    };
  } catch (error) {
    await closeAll(listeners);
    throw error;
  }
}

async function closeAll(listeners: readonly Listener[]): Promise<void> {
  await Promise.all(listeners.map((each) => each.shutdown(GRACE_MS)));
}

const MAX_PORT = 65_535;

/** Listens at a port behind that of the login, or at any that is free. */
function listenBehind(
  { address: { hostname, port }, serve }: DemoOptions,
  after: number,
  respond: Respond,
): Promise<Listener> {
  const next = port + after;
  const isFixed = port !== 0 && next <= MAX_PORT;
  return serve({ hostname, port: isFixed ? next : 0 }, respond)
    .catch((error) => {
      const isTaken = isSigError(error, "invalid_request") &&
        error.cause instanceof Deno.errors.AddrInUse;
      if (!isTaken) throw error;
      return serve({ hostname, port: 0 }, respond);
    });
}

/** Applications ask each second for every open page. */
const POLLED: readonly string[] = ["/forward-auth", "/oidc/userinfo"];

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
    if (entry.status >= 400 || !POLLED.includes(entry.path)) log(entry);
  });
}
