/**
 * The demo's two applications, each at its own origin: a shop that uses OpenID
 * Connect, and a wiki protected by forward auth.
 *
 * @module
 */

import type { Address } from "@sig/api/flags";
import type { Respond, RunningServer } from "@sig/api/server";
import { isSigError } from "@sig/core";
import { sha256Base64Url } from "../login/digest.ts";
import type { Client, Clients } from "../openid/clients.ts";
import {
  DEFAULT_SESSION_MS,
  type ProviderSettings,
} from "../openid/provider.ts";
import type { DemoIssuer } from "./demo_issuer.ts";
import { createOpenIdClient, randomText } from "./openid_client.ts";
import { type AppInfo, createPages, type EndOf } from "./demo_pages.ts";
import { createShop } from "./shop.ts";
import { addWiki, createGateProxy } from "./wiki.ts";

/** An application that people log in to with the key of the page. */
export interface DemoApp {
  /** What people call it. */
  readonly name: string;
  /** Its origin, which is not the login's. */
  readonly url: string;
  /** How it knows people, in a sentence. */
  readonly how: string;
  /** Whether it would show its pages to somebody who has opened it. */
  isOpenTo(subject: string): Promise<boolean>;
}

/** What the operator configures of the provider. */
export type Settings = ProviderSettings;

/** What {@linkcode startDemoApps} works with. */
export interface DemoAppsOptions {
  /** The login's issuer identifier. */
  readonly login: string;
  /** The demo's issuer. */
  readonly issuer: DemoIssuer;
  /** What the operator says of the provider; both applications are added. */
  readonly settings: Settings;
  /** Listens. */
  readonly serve: (
    address: Address,
    respond: Respond,
  ) => Promise<Pick<RunningServer, "url" | "shutdown">>;
  /** Where the login listens, and whether its port was chosen by somebody. */
  readonly address: Address;
  /** The clock. */
  readonly now: () => Date;
}

/** The applications. */
interface DemoApps {
  /** For the page. */
  readonly apps: readonly DemoApp[];
  /** The provider's settings, which know both. */
  readonly settings: Settings;
  /** Stops them. */
  close(): Promise<void>;
}

/** Milliseconds that requests in flight get. */
const GRACE_MS = 1_000;
const MAX_PORT = 65_535;
const CLIENT_ID = "demo-shop";

/**
 * Starts both: at the two ports behind that of the login, or at any that are
 * free.
 *
 * @throws {SigError} `invalid_request` if they can't listen.
 */
export async function startDemoApps(
  options: DemoAppsOptions,
): Promise<DemoApps> {
  const { login, issuer, settings, now } = options;
  const endOf: EndOf = (subject) => {
    const event = issuer.lastOf(subject);
    if (event?.status !== "revoked") return undefined;
    const name = decodeURIComponent(issuer.did.slice("did:web:".length));
    return { issuer: name, sequence: event.sequence };
  };
  const apps: DemoApp[] = [];
  const links = () => [{ name: "Tour", url: `${login}/` }, ...apps];
  const shop = await open(options, 1);
  const wiki = await open(options, 2).catch(async (error) => {
    await shop.close();
    throw error;
  });

  const secret = randomText();
  const shopInfo: AppInfo = {
    ...{ id: "shop", name: "Shop", links },
    learns: "the login sent it a logout token.",
  };
  const inShop = createShop({
    client: createOpenIdClient({
      ...{ issuer: login, client_id: CLIENT_ID, client_secret: secret, now },
      redirect_uri: `${shop.origin}/callback`,
    }),
    ...{ info: shopInfo, origin: shop.origin, now },
    sessionMs: settings.sessionMs ?? DEFAULT_SESSION_MS,
  });
  const shopPages = createPages(shopInfo, shop.host, endOf);
  inShop.addTo(shopPages);
  shop.answerWith((request) => shopPages.fetch(request));

  const wikiInfo: AppInfo = {
    ...{ id: "wiki", name: "Wiki", links },
    learns: "its proxy asks the login at each request.",
  };
  const wikiPages = createPages(wikiInfo, wiki.host, endOf);
  addWiki(wikiPages, wikiInfo);
  const proxy = createGateProxy({
    ...{ login, origin: wiki.origin },
    app: { fetch: (request) => wikiPages.fetch(request) },
  });
  wiki.answerWith((request) => proxy.fetch(request));

  apps.push({
    ...{ name: "Shop", url: `${shop.origin}/` },
    how: "It speaks OpenID Connect, as Grafana or Gitea do.",
    isOpenTo: (subject) => Promise.resolve(inShop.isOpenTo(subject)),
  }, {
    ...{ name: "Wiki", url: `${wiki.origin}/` },
    how: "It knows no logins: a proxy asks for it, as nginx and Caddy do.",
    isOpenTo: (subject) => proxy.isOpenTo(subject),
  });
  const client: Client = {
    client_id: CLIENT_ID,
    client_name: "Shop",
    authMethods: ["client_secret_basic"],
    secretSha256: await sha256Base64Url(secret),
    redirectUris: [`${shop.origin}/callback`],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: `${shop.origin}/backchannel-logout`,
    signingAlgorithm: "ES256",
    refresh: false,
    pkce: true,
    require: [],
  };
  return {
    apps,
    settings: {
      ...settings,
      clients: withClient(settings.clients, client),
      gateHosts: [...settings.gateHosts ?? [], wiki.host],
      nameOf: (subject) =>
        settings.nameOf?.(subject) ?? issuer.lastOf(subject)?.name ?? undefined,
    },
    async close() {
      await Promise.all([shop.close(), wiki.close()]);
    },
  };
}

/** The operator's applications and ours; the same map while theirs is the same. */
function withClient(clients: () => Clients, client: Client): () => Clients {
  let known: Clients | undefined;
  let all: Clients = new Map();
  return () => {
    if (known !== clients()) {
      known = clients();
      all = new Map([...known, [client.client_id, client]]);
    }
    return all;
  };
}

/** A place that listens; requests wait until it is said who answers them. */
async function open(
  { address, login, serve }: DemoAppsOptions,
  after: number,
) {
  const { promise, resolve } = Promise.withResolvers<
    (request: Request) => Response | Promise<Response>
  >();
  const respond: Respond = async (request) => await (await promise)(request);
  const { hostname } = address;
  const next = address.port + after;
  const isFixed = address.port !== 0 && next <= MAX_PORT;
  const server = await serve(
    { hostname, port: isFixed ? next : 0 },
    respond,
  ).catch((error) => {
    const isTaken = isSigError(error, "invalid_request") &&
      error.cause instanceof Deno.errors.AddrInUse;
    if (!isTaken) throw error;
    return serve({ hostname, port: 0 }, respond);
  });
  // As the login is called, so that it is one site to the person.
  const url = new URL(server.url);
  url.hostname = new URL(login).hostname;
  return {
    origin: url.origin,
    host: url.host,
    answerWith: resolve,
    close: () => server.shutdown(GRACE_MS),
  };
}
