/** The OpenID Provider, put together (docs/openid.md). @module */

import { Hono } from "hono";
import { recordsOf, type RecordStore } from "@sig/consumer/store";
import type { AllowOrigin, ServiceEnv } from "@sig/api/http";
import { hostCookie } from "../sessions/cookies.ts";
import { createRecheck } from "../sessions/recheck.ts";
import { createOutbox } from "../sessions/outbox.ts";
import { createSessions } from "../sessions/sessions.ts";
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

/** What the operator says of the provider. */
export interface ProviderSettings extends Naming {
  /** The applications, asked for each time: they may change. */
  readonly clients: () => Clients;
  /** The provider's keys. */
  readonly keys: ProviderKeys;
  /** Milliseconds that a session lives (default: 8 hours). */
  readonly sessionMs?: number | undefined;
  /**
   * Milliseconds for which sessions continue after they were last confirmed,
   * while the issuer gives no answer (default: 1 hour).
   */
  readonly graceMs?: number | undefined;
  /** Hosts protected by forward auth, `HOST[:PORT]` (default: none). */
  readonly gateHosts?: readonly string[] | undefined;
  /** Milliseconds that such an answer may be old (default: 30,000). */
  readonly gateMaxAgeMs?: number | undefined;
  /** Sends logout tokens (default: `fetch`). */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** What the provider needs of the server around it. */
interface ProviderOptions
  extends ProviderSettings, Omit<InteractionLogin, "sessionMs"> {
  /** The issuer identifier. */
  readonly issuer: string;
  /** The issuer that says who may log in. */
  readonly askedIssuer: string | null;
  /** Where sessions, codes and tokens are kept. */
  readonly store: RecordStore;
  /** The clock. */
  readonly now: () => Date;
}

/** The provider's work while nobody asks. */
export interface ProviderWork {
  /** Checks all sessions, and ends those that the issuer denies. */
  watch(): Promise<WatchReport>;
  /** Sends the logout tokens that are due; returns how many were delivered. */
  deliver(): Promise<number>;
}

/** The provider. */
export interface Provider extends ProviderWork {
  /** Adds its routes. */
  addRoutes(app: Hono<ServiceEnv>): void;
  /** What its routes share, for others that know the same sessions. */
  readonly context: ProviderContext;
  /** Pages of the applications may ask some of them. */
  readonly allowOrigin: AllowOrigin;
}

/** Milliseconds that a session lives by default: a day's work. */
export const DEFAULT_SESSION_MS = 8 * 3_600_000;

/** Default of how long sessions continue while the issuer gives no answer. */
export const DEFAULT_GRACE_MS = 3_600_000;

/** Puts the provider together; nothing is asked or written yet. */
export function createProvider(options: ProviderOptions): Provider {
  const { issuer, clients, keys, store, ask, now } = options;
  const { nameOf, usernameOf } = options;
  const sessionMs = options.sessionMs ?? DEFAULT_SESSION_MS;
  const send = createBackchannel({
    ...{ issuer, clients, keys, now },
    fetch: options.fetch ?? ((request) => fetch(request)),
  });
  const outbox = createOutbox({ store, audience: issuer, send, now });
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
    ...{ ask, sessions, now },
    graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
  });
  const context: ProviderContext = {
    ...{ issuer, clients, keys, sessions, grants, now },
    ...recheck,
    ...{ nameOf, usernameOf },
    assertions: recordsOf<true>(store, ASSERTION),
    sessionCookie: hostCookie("sig-session", issuer),
    browserCookie: hostCookie("sig-browser", issuer),
  };
  // What fails now is due again.
  const kick = () => void outbox.deliver().catch(() => {});
  return {
    addRoutes(app) {
      // Programs get the errors of OAuth, people get pages.
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
      ...{ sessions, now },
      recheckSession: recheck.recheckSession,
      clientOf: (id) => clients().get(id),
    }),
    deliver: () => outbox.deliver(),
  };
}

/** What pages of applications ask; the consent is not among it. */
const OPEN_PATHS: ReadonlySet<string> = new Set([
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  ...["/oidc/jwks", "/oidc/token", "/oidc/userinfo", "/oidc/revoke"],
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
