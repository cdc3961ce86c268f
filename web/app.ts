/**
 * The login as an application (docs/protocol.md §7). Long because here
 * every part of it is put together, and nowhere else.
 *
 * @module
 */

import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import {
  type App,
  createService,
  type GuardOptions,
  readJson,
  sendJson,
  type ServiceEnv,
  toApp,
} from "@sig/api/http";
import type { FetchPolicy } from "@sig/consumer";
import { fetchPolicyOf } from "@sig/consumer/internal";
import type { PinStore } from "@sig/consumer/pins";
import { SigError } from "@sig/core";
import type { Context, Hono } from "hono";
import { challengesIn } from "./login/challenges.ts";
import {
  createChallenge,
  DEFAULT_TTL_SECONDS,
} from "./login/create_challenge.ts";
import {
  createFetchedSubjectKeys,
  SUBJECT_TIMEOUT_MS,
} from "./login/subject_key.ts";
import { verifyLogin } from "./login/verify_login.ts";
import { createLoginGate, type LoginGate } from "./login/relationship.ts";
import { loginsOutOfPlace } from "./login/out_of_place.ts";
import {
  createProvider,
  type ProviderSettings,
  type ProviderWork,
} from "./openid/provider.ts";
import { findIssuerIdentifier } from "./openid/discovery.ts";
import { addGateRoutes } from "./gate/gate_login.ts";
import { createGateHosts } from "./gate/hosts.ts";
import type { ProviderContext } from "./openid/provider_context.ts";
import { addIssuerDocuments, locateIssuers } from "./pages/issuer_documents.ts";
import { addPage, type PageConfig } from "./pages/page.ts";
import { PAGE_CHALLENGE } from "./store/kinds.ts";
import { VERSION } from "./version.ts";

/** Options of {@linkcode createApp}. */
export interface AppOptions extends GuardOptions, FetchPolicy {
  /**
   * The origins or DIDs that it speaks for; the first one is the default. They
   * are never taken from a request.
   */
  readonly audiences: readonly string[];
  /** Issuers that the page can show. */
  readonly issuers?: readonly string[] | undefined;
  /** What a login needs of a relationship with the one issuer: `key=value`. */
  readonly require?: readonly string[] | undefined;
  /** What a login on the page asks to learn, as scopes (default: nothing). */
  readonly scopes?: readonly string[] | undefined;
  /** How old the issuer's state may be, in milliseconds (default: 0). */
  readonly maxAgeMs?: number | undefined;
  /**
   * Remembers that issuer for longer than this process, together with others;
   * it stays open. As in `createConsumer`.
   */
  readonly pins?: PinStore | undefined;
  /** With `pins`: an issuer that is not remembered there is an error. */
  readonly requirePin?: boolean | undefined;
  /**
   * Keeps challenges, sessions, codes and tokens (default: in memory). The caller
   * closes it.
   */
  readonly store?: RecordStore | undefined;
  /** Seconds that a challenge lives, 30 to 900 (default: 300). */
  readonly ttlSeconds?: number | undefined;
  /** Makes it an OpenID Provider too; needs `require`. */
  readonly openid?: ProviderSettings | undefined;
}

/** The application. */
export interface WebApp extends App {
  /** With `openid`: the background work of the provider, for a long-running process. */
  readonly provider?: ProviderWork;
}

/** Bytes of a request's body (docs/protocol.md §8). */
const MAX_BODY_BYTES = 64 * 1024;

/**
 * Makes the application: the two endpoints of the login, the page, and what the
 * page reads.
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
 * `invalid_identifier` and the like for options that can't be meant.
 * @throws {RangeError} for numbers out of range, and without an audience.
 */
export function createApp(options: AppOptions): WebApp {
  const now = options.now ?? (() => new Date());
  const store = options.store ?? createMemoryStore();
  const openChallenges = challengesIn(store);
  // Of its own: a flood of the open endpoint leaves room for the page's.
  const pageChallenges = challengesIn(store, PAGE_CHALLENGE);
  const issuers = locateIssuers(options.issuers ?? [], options);
  const gate = createLoginGate({
    issuers,
    require: options.require,
    maxAgeMs: options.maxAgeMs,
    pins: options.pins,
    requirePin: options.requirePin,
    now,
  });
  const allowPrivate = options.allowPrivate ?? false;
  const ttlSeconds = options.ttlSeconds ?? DEFAULT_TTL_SECONDS;
  if (options.audiences.length === 0) {
    throw new RangeError("Cannot log anyone in: audiences must not be empty");
  }
  const challenges = {
    audiences: options.audiences,
    require: gate.require,
    defaultTtlSeconds: ttlSeconds,
    allowPrivate,
    now,
  };
  const logins = {
    resolveKey: createFetchedSubjectKeys(
      fetchPolicyOf(options),
      Math.min(options.totalTimeoutMs ?? Infinity, SUBJECT_TIMEOUT_MS),
    ),
    issuer: gate.issuer,
    checkRelationship: gate.checkRelationship,
  };
  const provider = options.openid && createProvider({
    ...options.openid,
    ...withGate(options, store),
    records: store,
    issuer: issuerIdentifierOf(options.audiences),
    challenges: {
      ...challenges,
      challenges: pageChallenges,
      defaultAudience: issuerIdentifierOf(options.audiences),
    },
    require: gate.require ?? [],
    logins: {
      resolveKey: logins.resolveKey,
      issuer: gate.issuer,
      challenges: pageChallenges,
      now,
    },
    ask: requireAsk(gate),
    now,
  });
  /** A store that hangs holds up what needs it, and not the page. */
  const withStore = <T>(c: Context<ServiceEnv>, work: () => Promise<T>) =>
    options.store === undefined
      ? work()
      : c.get("budget").waitFor("store", work);
  const config: PageConfig = {
    issuers: issuers.map(({ did }, n) => ({ did, base: `/ui/issuers/${n}/` })),
    issuer: gate.issuer,
    require: gate.require,
    scopes: options.scopes ?? [],
    signIn: {
      challengeUrl: "/v1/auth/challenge/create",
      answerUrl: "/v1/auth/attestation/verify",
      returns: false,
    },
    demo: false,
  };
  const { allowOrigin } = provider ?? {};
  // Proxies may pass on the name that the browser asked for.
  const hosts = options.hosts &&
    [...options.hosts, ...options.openid?.gateHosts ?? []];
  const app = createService({
    ...options,
    ...{ allowOrigin, hosts },
    service: "sig-web",
    version: VERSION,
    // A proxy asks it once for each file of a page.
    unlimited: ["/forward-auth"],
    // Forms of applications; browsers send no cookies with them.
    crossSite: ["/oidc/authorize", "/oidc/logout"],
  });
  app.post("/v1/auth/challenge/create", async (c) => {
    const body = await readJson(c, MAX_BODY_BYTES);
    const client = c.get("budget").client || undefined;
    const own = { ...challenges, challenges: openChallenges, client };
    const created = () => createChallenge(body, own);
    return sendJson(c, await withStore(c, created));
  });
  app.post("/v1/auth/attestation/verify", async (c) => {
    const body = await readJson(c, MAX_BODY_BYTES);
    const verified = () =>
      verifyLogin(body, {
        ...loginsOutOfPlace(logins, c),
        challenges: openChallenges,
        audiences: options.audiences,
        now,
      });
    return sendJson(c, await withStore(c, verified));
  });
  addPage(app, "", config);
  addIssuerDocuments(app, issuers, now);
  provider?.addRoutes(app);
  return { ...toApp(app), ...(provider === undefined ? {} : { provider }) };
}

/** How old an answer to a proxy may be by default, in milliseconds. */
const DEFAULT_GATE_MAX_AGE_MS = 30_000;

/** The applications behind proxies, where there are any. */
function withGate({ audiences, openid }: AppOptions, records: RecordStore) {
  const { gateHosts = [], gateMaxAgeMs } = openid ?? {};
  if (openid === undefined || gateHosts.length === 0) return {};
  const hosts = createGateHosts(gateHosts, issuerIdentifierOf(audiences));
  const { clients } = openid;
  const maxAgeMs = gateMaxAgeMs ?? DEFAULT_GATE_MAX_AGE_MS;
  return {
    clients: hosts.addTo(clients),
    addFurtherRoutes: (
      app: Hono<ServiceEnv>,
      pages: Hono<ServiceEnv>,
      context: ProviderContext,
    ) => addGateRoutes(app, pages, context, { hosts, records, maxAgeMs }),
  };
}

function issuerIdentifierOf(audiences: readonly string[]): string {
  const found = findIssuerIdentifier(audiences);
  if (found !== undefined) return found;
  throw new SigError(
    "invalid_request",
    "Cannot be an OpenID Provider: an audience must be an https origin",
    {
      context: {
        flag: "--audience",
        hint: "For example: https://login.acme.example.",
      },
    },
  );
}

function requireAsk({ ask }: LoginGate) {
  if (ask !== undefined) return ask;
  throw new SigError(
    "invalid_request",
    "Cannot be an OpenID Provider: it must be said who may log in",
    {
      context: {
        flag: "--oidc-clients",
        hint:
          "For example: --issuer acme.example --require relationship=employee.",
      },
    },
  );
}
