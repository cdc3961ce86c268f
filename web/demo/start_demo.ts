/** The demo of a process: an issuer, two applications, and a story on the page. @module */

import {
  type Respond,
  type RunningServer,
  type ServerIo,
  type Startup,
  usageError,
} from "@sig/api/program";
import type { App, RequestLogEntry } from "@sig/api/internal/http";
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

/** Options of {@linkcode startDemo}. */
interface DemoOptions
  extends Pick<ServerIo, "now" | "serve">, Pick<Startup, "address"> {
  /** The URL of the server. */
  readonly url: string;
  /** The origins or DIDs that sign-ins are for. */
  readonly audiences: readonly string[];
  /** The operator's settings of the provider; both applications are added. */
  readonly settings: ProviderSettings;
  /** The requirements of a sign-in (default: employee). */
  readonly require: readonly string[] | undefined;
  /** The scopes that a sign-in on the page requests. */
  readonly scopes: readonly string[];
  readonly log: Log;
}

type Listener = Pick<RunningServer, "url" | "shutdown">;
type Log = ((entry: RequestLogEntry) => void) | undefined;

/** A running demo. */
export type Demo = Awaited<ReturnType<typeof startDemo>>;

/** How long requests in flight may take during shutdown, in milliseconds. */
const GRACE_MS = 1_000;

/**
 * Starts the demo, which exists only in this process. The applications need an
 * audience that is an origin, where people can log in.
 *
 * @throws {SigError} `invalid_request` if the applications can't listen, or if
 * the address can't be a did:web.
 */
export async function startDemo(options: DemoOptions) {
  const { url, audiences, address, now } = options;
  if (address.hostname.includes(":")) {
    throw usageError(
      "--demo creates an issuer at --addr, and a did:web can't contain an IPv6 address",
      { flag: "--demo", hint: "Use --addr 127.0.0.1:PORT." },
    );
  }
  const issuer = await createDemoIssuer({ origin: url, now });
  const login = findIssuerIdentifier(audiences);
  const { apps, settings, listeners } = login === undefined
    ? { apps: [], settings: undefined, listeners: [] }
    : await startApps(login, issuer, options);
  const { require = DEMO_REQUIRE, scopes } = options;
  return {
    /** Options for the login: its issuer is like any other, on loopback. */
    options: {
      issuers: [issuer.did],
      require,
      allowPrivate: true,
      // Each process has a new issuer, which no stored pin can match.
      pins: undefined,
      requirePin: undefined,
      log: withoutPolls(options.log),
    },
    /**
     * The provider's settings with both applications; undefined without
     * applications.
     */
    settings,
    /** Wraps the login with the demo. */
    wrap: (app: App) => wrapDemo(app, issuer, apps, { require, scopes }),
    /** Stops the applications. */
    close: () => closeAll(listeners),
  };
}

/** Starts both applications, each at its own origin. */
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
    // Requests wait until the application knows its URL.
    const { promise: app, resolve } = Promise.withResolvers<DemoApp>();
    const listener = await listenBehind(
      options,
      apps.length + 1,
      async (request) => await (await app).routes.fetch(request),
    );
    listeners.push(listener);
    // The same host name as the login, so that the browser treats them as one
    // site.
    const url = new URL(listener.url);
    url.hostname = new URL(login).hostname;
    resolve(create(login, url.origin, context));
    apps.push(await app);
    return url;
  }

  try {
    const shop = await open(createShop);
    const wiki = await open(createWiki);
    const own = shopClients(shop.origin);
    return {
      apps,
      listeners,
      settings: {
        ...settings,
        clients: () => new Map([...settings.clients(), ...own]),
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

/** Listens at a port after that of the login, or at any free port. */
function listenBehind(
  { address: { hostname, port }, serve }: DemoOptions,
  after: number,
  respond: Respond,
): Promise<Listener> {
  const next = port + after;
  const isFixed = port !== 0 && next <= MAX_PORT;
  return serve({ hostname, port: isFixed ? next : 0 }, respond)
    .catch((error) => {
      if (error?.cause instanceof Deno.errors.AddrInUse) {
        return serve({ hostname, port: 0 }, respond);
      }
      throw error;
    });
}

/** Paths that applications request each second for every open page. */
const POLLED: readonly string[] = ["/forward-auth", "/oidc/userinfo"];

/** Returns a log without successful polls, which would hide everything else. */
function withoutPolls(log: Log): Log {
  return log && ((entry) => {
    if (entry.status >= 400 || !POLLED.includes(entry.path)) log(entry);
  });
}
