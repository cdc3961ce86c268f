/**
 * Two applications beside the demo's login, each at an origin of its own: a shop
 * that speaks OpenID Connect, and a wiki behind a proxy that asks who is there.
 *
 * @module
 */

import type { Address } from "@sig/api/flags";
import type { Respond, RunningServer } from "@sig/api/http";
import { isSigError } from "@sig/core";
import { digestOf } from "../../login/digest.ts";
import type { Client, Clients } from "../../openid/client.ts";
import {
  DEFAULT_SESSION_MS,
  type ProviderSettings,
} from "../../openid/provider.ts";
import type { DemoIssuer } from "../demo_issuer.ts";
import type { DemoApp } from "./demo_app.ts";
import { createReadEnding } from "./ending.ts";
import { createGateProxy } from "./gate_proxy.ts";
import { createOpenIdClient, randomText } from "./openid_client.ts";
import { createPages, type Look } from "./pages.ts";
import { createShop } from "./shop.ts";
import { addWiki } from "./wiki.ts";

/** What the operator says of a provider, but for where it keeps things. */
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
export interface DemoApps {
  /** As the page is told of them. */
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
  const readEnding = createReadEnding({ issuer: issuer.did, now });
  const apps: DemoApp[] = [];
  const neighbours = () => [{ name: "Tour", url: `${login}/` }, ...apps];
  const shop = await open(options, 1);
  const wiki = await open(options, 2).catch(async (error) => {
    await shop.close();
    throw error;
  });

  const secret = randomText();
  const shopLook: Look = {
    ...{ id: "shop", name: "Shop", neighbours },
    learns: "the login sent it a logout token.",
  };
  const inShop = createShop({
    client: createOpenIdClient({
      ...{ issuer: login, client_id: CLIENT_ID, client_secret: secret, now },
      redirect_uri: `${shop.origin}/callback`,
    }),
    ...{ look: shopLook, origin: shop.origin, now },
    sessionMs: settings.sessionMs ?? DEFAULT_SESSION_MS,
  });
  const shopPages = createPages(shopLook, shop.host, readEnding);
  inShop.addTo(shopPages);
  shop.answerWith((request) => shopPages.fetch(request));

  const wikiLook: Look = {
    ...{ id: "wiki", name: "Wiki", neighbours },
    learns: "its proxy asks the login at each request.",
  };
  const wikiPages = createPages(wikiLook, wiki.host, readEnding);
  addWiki(wikiPages, wikiLook);
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
    secretSha256: await digestOf(secret),
    redirectUris: [`${shop.origin}/callback`],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: `${shop.origin}/backchannel-logout`,
    signingAlgorithm: "ES256",
    refresh: false,
    require: [],
  };
  return {
    apps,
    settings: {
      ...settings,
      clients: withClient(settings.clients, client),
      gateHosts: [...settings.gateHosts ?? [], wiki.host],
      nameOf: (subject) =>
        settings.nameOf?.(subject) ?? issuer.nameOf?.(subject),
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
