/** The OpenID Provider (docs/openid.md). @module */

import { Hono } from "hono";
import { recordsOf, type RecordStore } from "@sig/consumer/store";
import type { AllowOrigin, ServiceEnv } from "@sig/api/http";
import { hostCookie } from "../sessions/cookies.ts";
import { createRecheck, DEFAULT_GRACE_MS } from "../sessions/recheck.ts";
import { createOutbox } from "../sessions/outbox.ts";
import { createSessions, DEFAULT_SESSION_MS } from "../sessions/sessions.ts";
import { createWatch, type WatchReport } from "../sessions/watch.ts";
import { ASSERTION } from "../store/kinds.ts";
import { refuseDirectly } from "./oauth_error.ts";
import { refusePage } from "./pages.ts";
import { addFormPostRoute } from "./answer_client.ts";
import { addAuthorizeRoutes } from "./authorize.ts";
import { addLogoutRoutes, createBackchannel } from "./logout.ts";
import type { Naming } from "./claims.ts";
import type { Clients } from "./clients.ts";
import { addConsentRoutes } from "./consents.ts";
import { addDiscoveryRoutes } from "./discovery.ts";
import { createGrants } from "./grants.ts";
import { addInteractionRoutes, type InteractionLogin } from "./interaction.ts";
import type { ProviderContext } from "./provider_context.ts";
import type { ProviderKeys } from "./keys.ts";
import { addRevokeRoute, addTokenRoute } from "./token.ts";
import { addUserinfoRoutes } from "./userinfo.ts";

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

/** Options of {@linkcode createProvider}. */
interface ProviderOptions
  extends ProviderSettings, Omit<InteractionLogin, "sessionMs"> {
  /** The issuer identifier. */
  readonly issuer: string;
  /** The DID of the issuer that confirms logins. */
  readonly askedIssuer: string | null;
  /** The store of sessions, codes and tokens. */
  readonly store: RecordStore;
  readonly now: () => Date;
}

/** The background work of the provider. */
export interface ProviderWork {
  /** Checks all sessions and ends those that the issuer denies. */
  watch(): Promise<WatchReport>;
  /** Sends the logout tokens that are due; returns how many were delivered. */
  deliver(): Promise<number>;
}

/** The provider's routes and background work. */
interface Provider extends ProviderWork {
  addRoutes(app: Hono<ServiceEnv>): void;
  /** The state of its routes, for other routes with the same sessions. */
  readonly context: ProviderContext;
  /** Allows pages of applications to request some routes. */
  readonly allowOrigin: AllowOrigin;
}

/** Creates the provider; nothing is fetched or written yet. */
export function createProvider(options: ProviderOptions): Provider {
  const { issuer, clients, keys, store, ask, now } = options;
  const { nameOf, usernameOf } = options;
  const sessionMs = options.sessionMs ?? DEFAULT_SESSION_MS;
  const send = createBackchannel({
    issuer,
    clients,
    keys,
    now,
    fetch: options.fetch ?? ((request) => fetch(request)),
  });
  const outbox = createOutbox({
    store,
    audience: issuer,
    recipients: () => clients().keys(),
    send,
    now,
  });
  const grants = createGrants({ store, keys, now });
  const sessions = createSessions({
    store,
    lifeMs: sessionMs,
    conditions: {
      audience: issuer,
      issuer: options.askedIssuer,
      require: options.require,
    },
    async notify(notification) {
      const client = clients().get(notification.client_id);
      if (client?.backchannel_logout_uri !== undefined) {
        await outbox.add(notification);
      }
    },
    drop: (grant) => grants.deleteGrant(grant),
    now,
  });
  const recheck = createRecheck({
    ask,
    sessions,
    now,
    graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
  });
  const context: ProviderContext = {
    issuer,
    clients,
    keys,
    sessions,
    grants,
    now,
    ...recheck,
    nameOf,
    usernameOf,
    assertions: recordsOf<true>(store, ASSERTION),
    sessionCookie: hostCookie("sig-session", issuer),
    browserCookie: hostCookie("sig-browser", issuer),
  };
  // Failed deliveries are retried later.
  const kick = () => void outbox.deliver().catch(() => {});
  return {
    addRoutes(app) {
      // Programs get OAuth errors, browsers get pages.
      const direct = new Hono<ServiceEnv>();
      direct.onError((error, c) => refuseDirectly(c, error));
      const pages = new Hono<ServiceEnv>();
      pages.onError((error, c) => refusePage(c, error));
      addDiscoveryRoutes(app, issuer, keys);
      addAuthorizeRoutes(pages, context);
      addFormPostRoute(pages, context);
      addInteractionRoutes(app, context, { ...options, sessionMs });
      addConsentRoutes(app, context, kick);
      addTokenRoute(direct, context);
      addUserinfoRoutes(direct, context);
      addRevokeRoute(direct, context);
      addLogoutRoutes(pages, context, kick);
      app.route("/", direct);
      app.route("/", pages);
    },
    context,
    allowOrigin: createAllowOrigin(clients),
    watch: createWatch({
      sessions,
      now,
      recheckSession: recheck.recheckSession,
      clientOf: (id) => clients().get(id),
    }),
    deliver: () => outbox.deliver(),
  };
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
        Array.from(known.values()).flatMap(
          ({ redirect_uris, post_logout_redirect_uris }) =>
            [...redirect_uris, ...post_logout_redirect_uris]
              .map((uri) => new URL(uri).origin)
              .filter((each) => each !== "null"),
        ),
      );
    }
    return origins.has(origin);
  };
}
