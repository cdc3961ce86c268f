/**
 * The login server as a Hono application (docs/protocol.md §7). This is the
 * only file that combines all of its parts, hence its length.
 *
 * @module
 */

import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import {
  type App,
  countStoreErrors,
  createAnswerMetrics,
  createReadiness,
  createService,
  type GuardOptions,
  MAX_BODY_BYTES,
  readJson,
  sendJson,
  toApp,
} from "@sig/api/internal/http";
import type { FetchPolicy } from "@sig/consumer";
import { fetchPolicyOf } from "@sig/consumer/internal";
import type { PinStore } from "@sig/consumer/pins";
import { challengesIn } from "./login/challenges.ts";
import { createChallenge } from "./login/create_challenge.ts";
import { createSubjectKeys } from "./login/subject_key.ts";
import { verifyLogin } from "./login/verify_login.ts";
import { createLoginGate } from "./login/relationship.ts";
import type { OpenIdProvider, ProviderWork } from "./sign_in/host.ts";
import { problemAsPage } from "./sign_in/pages.ts";
import { addIssuerDocuments, locateIssuers } from "./pages/issuer_documents.ts";
import { addPage, LOGIN_ROUTES } from "./pages/page.ts";
import type { PageConfig } from "./ui/page_config.ts";
import { PAGE_CHALLENGE } from "./store/kinds.ts";
import { VERSION } from "./version.ts";

/** Options of {@linkcode createApp}. */
export interface AppOptions extends GuardOptions, FetchPolicy {
  /**
   * Origins or DIDs that people log in to; the first one is the default. They
   * are never taken from a request.
   */
  readonly audiences: readonly string[];
  /** Issuers that the page can show: did:web identifiers, hosts or URLs. */
  readonly issuers?: readonly string[] | undefined;
  /**
   * Requirements of a login, as `key=value`; they need exactly one issuer
   * (default: no relationship is required).
   */
  readonly require?: readonly string[] | undefined;
  /** Scopes that a login on the page requests (default: none). */
  readonly scopes?: readonly string[] | undefined;
  /** Maximum age of the issuer's state, in milliseconds (default: 0). */
  readonly maxAgeMs?: number | undefined;
  /**
   * Keeps the pin of the required issuer across restarts and processes; the
   * caller closes it. As in `createConsumer`.
   */
  readonly pins?: PinStore | undefined;
  /** With `pins`: rejects an issuer without a pin (default: false). */
  readonly requirePin?: boolean | undefined;
  /**
   * Store of challenges, sessions, codes and tokens (default: in memory). The
   * caller closes it.
   */
  readonly store?: RecordStore | undefined;
  /** Lifetime of a challenge in seconds, 30 to 900 (default: 300). */
  readonly ttlSeconds?: number | undefined;
  /**
   * An OpenID Provider, from `createProvider` of `@sig/web/openid`; needs
   * `require` (default: no provider).
   */
  readonly openid?: OpenIdProvider | undefined;
}

/** The application that {@linkcode createApp} returns. */
export interface WebApp extends App {
  /**
   * With `openid`: the provider's background work, for a long-running process.
   */
  readonly provider?: ProviderWork;
}

/**
 * Creates the application: the two login endpoints, the page, and the routes
 * that the page reads.
 *
 * @example A challenge
 * ```ts
 * import { createApp } from "@sig/web";
 * import { assertEquals } from "@std/assert";
 *
 * const app = createApp({ audiences: ["https://shop.example"] });
 * const response = await app.fetch(
 *   new Request("https://shop.example/v1/auth/challenge/create", {
 *     method: "POST",
 *     headers: { "content-type": "application/json" },
 *     body: JSON.stringify({ scopes: ["profile"] }),
 *   }),
 * );
 * const challenge = await response.json();
 * assertEquals(challenge.audience, "https://shop.example");
 * ```
 *
 * @throws {SigError} `invalid_request`, `invalid_requirement`,
 * `invalid_identifier` and similar codes for invalid options.
 * @throws {RangeError} for numbers out of range and for empty `audiences`.
 */
export function createApp(options: AppOptions): WebApp {
  const now = options.now ?? (() => new Date());
  const { telemetry } = options;
  const store = countStoreErrors(
    options.store ?? createMemoryStore(),
    telemetry,
  );
  const pins = options.pins && countStoreErrors(options.pins, telemetry);
  const issuers = locateIssuers(options.issuers ?? [], options);
  const gate = createLoginGate({
    issuers,
    require: options.require,
    maxAgeMs: options.maxAgeMs,
    pins,
    requirePin: options.requirePin,
    metrics: telemetry && createAnswerMetrics(telemetry, now),
    now,
  });
  const { ask } = gate;
  if (options.audiences.length === 0) {
    throw new RangeError("Cannot log anyone in: audiences must not be empty");
  }
  const challenges = {
    challenges: challengesIn(store),
    audiences: options.audiences,
    require: gate.require,
    defaultTtlSeconds: options.ttlSeconds,
    allowPrivate: options.allowPrivate ?? false,
    now,
  };
  const logins = {
    challenges: challenges.challenges,
    resolveKey: createSubjectKeys(fetchPolicyOf(options)),
    audiences: options.audiences,
    ...(ask === undefined ? {} : {
      checkRelationship: async (who: string) =>
        (await ask(who, { explains: true })).answer,
    }),
    onVerified: telemetry && (() => telemetry.count("sig.logins")),
    now,
  };
  // The page has a separate quota of challenges, so that a flood of the open
  // endpoint does not use it up.
  const own = { challenges: challengesIn(store, PAGE_CHALLENGE) };
  const provider = options.openid?.joinLogin({
    audiences: options.audiences,
    gate,
    store,
    challenges: { ...challenges, ...own },
    logins: { ...logins, ...own },
    now,
  });
  const config: PageConfig = {
    issuers: issuers.map(({ did }, n) => ({ did, base: `/ui/issuers/${n}/` })),
    issuer: gate.issuer,
    require: gate.require,
    scopes: options.scopes ?? [],
    signIn: LOGIN_ROUTES,
    consents: provider !== undefined,
    demo: false,
  };
  const { allowOrigin } = provider ?? {};
  // Proxies may forward the host name of the browser's request.
  const hosts = options.hosts &&
    [...options.hosts, ...provider?.hosts ?? []];
  const service = createService({
    ...options,
    allowOrigin,
    hosts,
    service: "sig-web",
    version: VERSION,
    // A proxy sends one such request for each file of a page.
    unlimited: ["/forward-auth"],
    // Forms of applications post here; browsers send no cookies with them.
    crossSite: ["/oidc/authorize", "/oidc/logout"],
    // All other routes wait for the store, an issuer or a host that may hang,
    // which must not delay the page.
    isWaiting: (route) => route !== "/" && !route.startsWith("/ui/"),
    checkReadiness: createReadiness({
      ...fetchPolicyOf(options),
      issuers: options.issuers ?? [],
      stores: { store, ...(pins ? { pins } : {}) },
      now,
    }),
  });
  const addLogin = (
    path: string,
    answer: (body: unknown, client: string | undefined) => Promise<unknown>,
  ) =>
    service.post(path, async (c) => {
      const body = await readJson(c, MAX_BODY_BYTES);
      return sendJson(
        c,
        await answer(body, c.get("budget").client || undefined),
      );
    });
  addLogin(
    LOGIN_ROUTES.challengeUrl,
    (body, client) => createChallenge(body, { ...challenges, client }),
  );
  addLogin(
    LOGIN_ROUTES.answerUrl,
    (body, client) => verifyLogin(body, { ...logins, client }),
  );
  addPage(service, "", config);
  addIssuerDocuments(service, issuers, now);
  provider?.addRoutes(service);
  const app = toApp(service);
  return {
    fetch: async (request, info) =>
      await problemAsPage(request, await app.fetch(request, info)),
    ...(provider === undefined ? {} : { provider }),
  };
}
