/** The OpenID Provider (docs/openid.md). @module */

import {
  type AllowOrigin,
  readForm,
  send,
  type ServiceEnv,
} from "@sig/api/internal/http";
import { SigError } from "@sig/core";
import { Hono } from "hono";
import { addGateRoutes } from "../gate/gate_login.ts";
import { createGateHosts } from "../gate/hosts.ts";
import type { LoginGate } from "../login/relationship.ts";
import { hostCookie } from "../sessions/cookies.ts";
import { createOutbox } from "../sessions/outbox.ts";
import {
  createRecheck,
  DEFAULT_GRACE_MS,
  DEFAULT_RECHECK_MS,
} from "../sessions/recheck.ts";
import { createSessions, DEFAULT_SESSION_MS } from "../sessions/sessions.ts";
import { createWatch } from "../sessions/watch.ts";
import type {
  HostedProvider,
  LoginHost,
  OpenIdProvider,
} from "../sign_in/host.ts";
import { refuseDirectly } from "../sign_in/oauth.ts";
import { refusePage, requireGet, sendTo } from "../sign_in/pages.ts";
import type { Naming } from "../sign_in/person.ts";
import { showFormAnswer } from "./answer_client.ts";
import { answerSignIn, showSignIn } from "./answer_sign_in.ts";
import { authorize } from "./authorize.ts";
import type { Clients } from "./clients.ts";
import { listConsents, revokeConsent } from "./consents.ts";
import { metadataOf, requireIssuerIdentifier } from "./discovery.ts";
import { createGrants } from "./grants.ts";
import type { ProviderKeys } from "./keys.ts";
import { createBackchannel, logOutByForm, logOutByLink } from "./logout.ts";
import type { ProviderContext } from "./provider_context.ts";
import { issueByGrant, revoke, userinfo } from "./token.ts";

/** The operator's settings of the provider. */
export interface ProviderSettings extends Naming {
  /** Returns the current applications; called for each request. */
  readonly clients: () => Clients;
  /** The provider's keys. */
  readonly keys: ProviderKeys;
  /** Lifetime of a session in milliseconds (default: 8 hours). */
  readonly sessionMs?: number | undefined;
  /**
   * Milliseconds for which sessions continue after their last confirmation if
   * the issuer does not respond (default: 1 hour).
   */
  readonly graceMs?: number | undefined;
  /** Hosts protected by forward auth, `HOST[:PORT]` (default: none). */
  readonly gateHosts?: readonly string[] | undefined;
  /**
   * Maximum age of an answer to forward auth in milliseconds (default: 30,000).
   */
  readonly gateMaxAgeMs?: number | undefined;
  /** Sends logout tokens (default: `fetch`). */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/**
 * Creates an OpenID Provider, with forward auth for `gateHosts`, for the option
 * `openid` of `createApp`.
 *
 * @example A login with a provider
 * ```ts
 * import { createApp } from "@sig/web";
 * import {
 *   createProvider,
 *   generateProviderKeys,
 *   readClients,
 *   readProviderKeys,
 * } from "@sig/web/openid";
 * import { assertEquals } from "@std/assert";
 *
 * const clients = readClients(JSON.stringify({
 *   clients: [{ client_id: "wiki", redirect_uris: ["https://wiki.acme.example/cb"] }],
 * }));
 * const keys = await readProviderKeys(await generateProviderKeys());
 * const app = createApp({
 *   audiences: ["https://login.acme.example"],
 *   issuers: ["acme.example"],
 *   require: ["relationship=employee"],
 *   openid: createProvider({ clients: () => clients, keys }),
 * });
 * const response = await app.fetch(
 *   new Request("https://login.acme.example/.well-known/openid-configuration"),
 * );
 * assertEquals((await response.json()).issuer, "https://login.acme.example");
 * ```
 */
export function createProvider(settings: ProviderSettings): OpenIdProvider {
  return { joinLogin: (host) => joinLogin(settings, host) };
}

function joinLogin(options: ProviderSettings, host: LoginHost): HostedProvider {
  const { clients, keys, nameOf, usernameOf } = options;
  const { store, now } = host;
  const { ask, require, askedIssuer } = requireQuestion(host.gate);
  const issuer = requireIssuerIdentifier(host.audiences);
  const hosts = options.gateHosts?.length
    ? createGateHosts(options.gateHosts, issuer)
    : undefined;
  const sessionMs = options.sessionMs ?? DEFAULT_SESSION_MS;
  const isNotified = (clientId: string) =>
    clients().get(clientId)?.backchannel_logout_uri !== undefined;
  const outbox = createOutbox({
    store,
    audience: issuer,
    recipients: () => clients().keys().filter(isNotified),
    send: createBackchannel(
      { issuer, keys, now },
      clients,
      options.fetch ?? ((request) => fetch(request)),
    ),
    now,
  });
  const grants = createGrants({ store, now });
  const sessions = createSessions({
    store,
    lifeMs: sessionMs,
    conditions: { audience: issuer, issuer: askedIssuer, require },
    async notify(notification) {
      if (isNotified(notification.client_id)) await outbox.add(notification);
    },
    now,
  });
  const recheck = createRecheck({
    ask,
    sessions,
    now,
    graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
  });
  const context: ProviderContext = {
    ...host,
    issuer,
    ask,
    require,
    sessionMs,
    applicationOf: (id) => clients().get(id) ?? hosts?.applications.get(id),
    clients,
    keys,
    sessions,
    grants,
    ...recheck,
    nameOf,
    usernameOf,
    sessionCookie: hostCookie("sig-session", issuer),
    browserCookie: hostCookie("sig-browser", issuer),
    notifyNow: () => void outbox.deliver().catch(() => {}),
  };
  return {
    addRoutes(app) {
      addDocuments(app, issuer, keys);
      const signIn = "/oidc/interaction/:id";
      app.get(signIn, requireGet, (c) => showSignIn(c, context));
      app.post(signIn, (c) => answerSignIn(c, context));
      app.get("/oidc/consents", (c) => listConsents(c, context));
      app.post("/oidc/consents/revoke", (c) => revokeConsent(c, context));
      app.route("/", programRoutes(context));
      app.route("/", browserRoutes(context));
      if (hosts === undefined) return;
      const maxAgeMs = options.gateMaxAgeMs ?? DEFAULT_RECHECK_MS;
      addGateRoutes(app, { ...context, hosts, maxAgeMs });
    },
    hosts: options.gateHosts ?? [],
    allowOrigin: createAllowOrigin(clients),
    watch: createWatch({
      sessions,
      now,
      recheckSession: recheck.recheckSession,
      clientOf: context.applicationOf,
    }),
    deliver: () => outbox.deliver(),
  };
}

/** Adds the metadata and public keys (OIDC Discovery 1.0, RFC 8414). */
function addDocuments(
  app: Hono<ServiceEnv>,
  issuer: string,
  keys: ProviderKeys,
): void {
  const metadata = metadataOf(issuer);
  const headers = [["cache-control", "public, max-age=300"]] as const;
  for (
    const [path, document] of [
      ["/.well-known/openid-configuration", metadata],
      ["/.well-known/oauth-authorization-server", metadata],
      ["/oidc/jwks", keys.jwks],
    ] as const
  ) {
    const text = JSON.stringify(document);
    app.get(path, (c) => send(c, text, "application/json", { headers }));
  }
}

/** The routes for programs, which get OAuth errors. */
function programRoutes(context: ProviderContext): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>();
  app.onError((error, c) => refuseDirectly(c, error));
  app.post("/oidc/token", (c) => issueByGrant(c, context));
  app.post("/oidc/revoke", (c) => revoke(c, context));
  app.on(["GET", "POST"], "/oidc/userinfo", (c) => userinfo(c, context));
  return app;
}

/** The routes that browsers open, which get pages. */
function browserRoutes(context: ProviderContext): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>();
  app.onError((error, c) => refusePage(c, error));
  app.get("/oidc/authorize", requireGet, (c) => authorize(c, context));
  // Browsers send no cookie with a form of another site.
  app.post("/oidc/authorize", async (c) => {
    return sendTo(`${context.issuer}/oidc/authorize?${await readForm(c)}`);
  });
  app.get(
    "/oidc/form-post",
    requireGet,
    (c) => showFormAnswer(c.req.query("answer") ?? "", context),
  );
  app.get("/oidc/logout", requireGet, (c) => logOutByLink(c, context));
  app.post("/oidc/logout", (c) => logOutByForm(c, context));
  return app;
}

/** @throws {SigError} `invalid_request` where no relationship is required. */
function requireQuestion({ issuer, require, ask }: LoginGate) {
  if (ask !== undefined && require !== null) {
    return { ask, require, askedIssuer: issuer };
  }
  throw new SigError("invalid_request", {
    action: "be an OpenID Provider",
    reason: "requirements are missing",
    context: {
      flag: "--oidc-clients",
      hint:
        "For example: --issuer acme.example --require relationship=employee.",
    },
  });
}

/**
 * The routes that pages of applications may request; consents are not included.
 */
const OPEN_PATHS: ReadonlySet<string> = new Set([
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  "/oidc/jwks",
  "/oidc/token",
  "/oidc/userinfo",
  "/oidc/revoke",
  "/oidc/logout",
]);

function createAllowOrigin(clients: () => Clients): AllowOrigin {
  let known: Clients | undefined;
  let origins: ReadonlySet<string> = new Set();
  return (origin, path) => {
    if (!OPEN_PATHS.has(path)) return false;
    if (known !== clients()) {
      known = clients();
      origins = new Set(
        Array.from(known.values()).flatMap((
          { redirect_uris, post_logout_redirect_uris },
        ) =>
          [...redirect_uris, ...post_logout_redirect_uris]
            .map((uri) => new URL(uri).origin)
            .filter((each) => each !== "null")
        ),
      );
    }
    return origins.has(origin);
  };
}
