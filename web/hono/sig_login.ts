/** Routes and a session that log people in to a Hono application. @module */

import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import type { FetchPolicy } from "@sig/consumer";
import { fetchPolicyOf, locateIssuer } from "@sig/consumer/internal";
import { SigError } from "@sig/core";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { challengesIn } from "../login/challenges.ts";
import {
  createChallenge,
  DEFAULT_TTL_SECONDS,
} from "../login/create_challenge.ts";
import {
  createLoginGate,
  type IssuerAnswer,
  type MatchedRelationship,
} from "../login/relationship.ts";
import { verifyLogin } from "../login/verify_login.ts";
import {
  createRecheck,
  DEFAULT_GRACE_MS,
  DEFAULT_RECHECK_MS,
  gaveNoAnswer,
} from "../sessions/recheck.ts";
import { hostCookie, requireOwnPage } from "../sessions/cookies.ts";
import type { Session } from "../sessions/session.ts";
import { createSessions, DEFAULT_SESSION_MS } from "../sessions/sessions.ts";
import {
  clientNetwork,
  createClientAddress,
  MAX_BODY_BYTES,
  readUntypedJson,
} from "@sig/api/internal/http";
import { PAGE_CHALLENGE, SESSION } from "../store/kinds.ts";
import { OwnerQuota } from "../store/owner_quota.ts";
import { createSubjectKeys } from "../login/subject_key.ts";
import { addPage } from "../pages/page.ts";
import {
  invalidLogin,
  refuse,
  requireDuration,
  requireQuestion,
  type SigEnv,
  type SigSession,
  unauthorized,
} from "./require_relationship.ts";

/**
 * Maximum number of sessions of one network client, such as a company behind one
 * address; its oldest session ends.
 */
const MAX_SESSIONS_OF_CLIENT = 2_000;

/** Options of {@linkcode sigLogin}. */
export interface SigLoginOptions extends FetchPolicy {
  /**
   * The application's origin, which people sign; never take it from a request.
   */
  readonly audience: string;
  /**
   * The issuer: a did:web, a host, or the https URL of a `sig.json`; needs
   * `require`.
   */
  readonly issuer?: string | undefined;
  /** Requirements of a login, `key=value` each (default: none). */
  readonly require?: readonly string[] | undefined;
  /** Lifetime of a session in milliseconds (default: 8 hours). */
  readonly sessionMs?: number;
  /**
   * Maximum age, in milliseconds, of the issuer's answer about a person who is
   * logged in (default: 30,000).
   */
  readonly recheckMs?: number;
  /**
   * Milliseconds for which a session continues after its last confirmation if
   * the issuer does not respond; then requests get 503 (default: 1 hour).
   */
  readonly graceMs?: number;
  /**
   * Store of challenges and sessions, from `openStore` (default: in memory).
   */
  readonly store?: RecordStore;
  /**
   * Networks of trusted proxies (`10.0.0.0/8`), whose `X-Forwarded-For` names
   * the client (default: none). Each client has quotas of challenges, sessions
   * and fetches of did:web documents if the platform provides its address
   * (`Deno.serve(app.fetch)`).
   */
  readonly trustProxy?: readonly string[] | undefined;
  /** Path prefix of its routes (default: `/sig`). */
  readonly path?: string;
  /** The clock (default: `() => new Date()`). */
  readonly now?: () => Date;
}

/**
 * Creates a Hono application that logs people in: mount it at `/`, before the
 * routes that read `c.get("sig")`. A revocation ends the person's session at
 * the next request, once the issuer's answer is older than `recheckMs`. While
 * the issuer does not respond, sessions continue for `graceMs` after their last
 * confirmation; then requests get 503, and the sessions remain.
 *
 * | route | |
 * |---|---|
 * | `GET /sig/login?rd=PATH` | a page that signs in with a key of the browser, then redirects to PATH |
 * | `POST /sig/challenge` | a challenge for this browser |
 * | `POST /sig/session` `{attestation}` | begins the session: `{subject, relationship, signedInAt}` |
 * | `GET /sig/session` | the same, or 401 |
 * | `POST /sig/logout` | ends it: 204 |
 *
 * @example
 * ```ts
 * import { type SigEnv, sigLogin } from "@sig/web/hono";
 * import { Hono } from "hono";
 * import { assertEquals } from "@std/assert";
 *
 * const app = new Hono<SigEnv>();
 * app.route("/", sigLogin({ audience: "https://shop.example" }));
 * app.get("/", (c) => c.text(c.get("sig")?.subject ?? "nobody"));
 *
 * const response = await app.request("https://shop.example/");
 * assertEquals(await response.text(), "nobody");
 * ```
 *
 * @throws {SigError} `invalid_request` for requirements without an issuer, an
 * issuer without requirements, and invalid durations; `invalid_requirement`;
 * the codes of `locateIssuer`.
 */
export function sigLogin(options: SigLoginOptions): Hono<SigEnv> {
  const { audience, path = "/sig" } = options;
  const now = options.now ?? (() => new Date());
  const {
    sessionMs = DEFAULT_SESSION_MS,
    recheckMs = DEFAULT_RECHECK_MS,
    graceMs = DEFAULT_GRACE_MS,
  } = options;
  for (const [name, ms] of Object.entries({ sessionMs, recheckMs, graceMs })) {
    requireDuration(name, ms);
  }
  requireQuestion(options.issuer, options.require);
  const store = options.store ?? createMemoryStore();
  const challenges = challengesIn(store, PAGE_CHALLENGE);
  const policy = fetchPolicyOf(options);
  if (URL.parse(audience)?.origin !== audience) {
    throw invalidLogin(
      "the audience must be an origin",
      "For example: https://shop.example.",
    );
  }
  const sessionCookie = hostCookie("sig-session", audience);
  const challengeCookie = hostCookie("sig-challenge", audience);
  const gate = createLoginGate({
    issuers: options.issuer === undefined
      ? []
      : [{ did: locateIssuer(options.issuer, policy).expectedIssuer, policy }],
    require: options.require && [...options.require],
    now,
  });
  const sessions = createSessions<MatchedRelationship | null>({
    store,
    lifeMs: sessionMs,
    conditions: { audience, issuer: gate.issuer, require: gate.require ?? [] },
    // Without requirements, anybody can log in with any number of keys.
    ...(gate.require === null && {
      quota: new OwnerQuota({
        maxRecords: MAX_SESSIONS_OF_CLIENT,
        maxTotal: SESSION.maxRecords! / 2,
      }),
    }),
    now,
  });
  const { ask } = gate;
  const recheck = ask && createRecheck({ ask, sessions, graceMs, now });
  const resolveKey = createSubjectKeys(policy);
  const addressOf = createClientAddress(options.trustProxy);
  const clientOf = ({ env, req }: Context<SigEnv>) => {
    const address = addressOf(req.raw.headers, env);
    return address === undefined ? undefined : clientNetwork(address);
  };

  /**
   * Returns the session of a request if the issuer still confirms the
   * relationship.
   */
  async function sessionOf(
    headers: Headers,
  ): Promise<Session<MatchedRelationship | null> | undefined> {
    const session = await sessions.find(sessionCookie.read(headers));
    if (session === undefined) return undefined;
    // The session may be from a time with requirements; its relationship is no
    // longer rechecked.
    if (recheck === undefined) return { ...session, relationship: null };
    const { relationship } = session;
    // The session is from a time without requirements: a new login is needed.
    if (relationship === null) return undefined;
    const confirmed = await recheck.recheckOrGrace(
      { ...session, relationship },
      { maxAgeMs: recheckMs },
    );
    return confirmed && { ...session, relationship: confirmed };
  }

  // The login's own routes come before the recheck, so that people can sign in
  // and out while the issuer does not respond.
  const app = new Hono<SigEnv>();
  app.onError((error, c) => refuse(c, error));
  const ownPage: MiddlewareHandler<SigEnv> = async (c, next) => {
    requireOwnPage(c.req.raw.headers, audience);
    await next();
  };

  app.post(`${path}/challenge`, ownPage, async (c) => {
    const challenge = await createChallenge({}, {
      challenges,
      client: clientOf(c),
      audiences: [audience],
      require: gate.require,
      allowPrivate: options.allowPrivate ?? false,
      now,
    });
    // Only the browser that requested the challenge may answer it, which
    // prevents login fixation.
    c.header(
      ...challengeCookie.set(challenge.challenge_id, DEFAULT_TTL_SECONDS),
      { append: true },
    );
    return c.json(challenge, 200, { "cache-control": "no-store" });
  });
  app.post(`${path}/session`, ownPage, async (c) => {
    const { headers } = c.req.raw;
    const client = clientOf(c);
    const challenge_id = challengeCookie.read(headers);
    if (challenge_id === undefined) {
      throw new SigError("invalid_request", {
        action: "log in",
        reason: "no login was begun in this browser",
        context: { hint: "Ask for a challenge first." },
      });
    }
    const body = await readUntypedJson(c, MAX_BODY_BYTES);
    let asked: IssuerAnswer | undefined;
    const login = await verifyLogin(
      // The store may contain challenges of other applications, for which the
      // person signed.
      { ...Object(body), challenge_id, audience },
      {
        challenges,
        resolveKey,
        client,
        ...(ask === undefined ? {} : {
          checkRelationship: async (who) =>
            (asked = await ask(who, { explains: true })).answer,
        }),
        now,
      },
    );
    const { subject } = login;
    if (ask !== undefined && asked?.relationship === undefined) {
      throw unauthorized();
    }
    const before = await sessions.find(sessionCookie.read(headers));
    const person = await asked?.personOf();
    const { cookie, session } = await sessions.logIn({
      subject,
      client,
      ...(person === undefined ? {} : { person }),
      relationship: asked?.relationship ?? null,
      ...(asked === undefined ? {} : { confirmed_ms: asked.observedMs }),
    }, before);
    c.header(...sessionCookie.set(cookie, sessionMs / 1000), { append: true });
    c.header(...challengeCookie.set("", 0), { append: true });
    return c.json(describe(session), 200, { "cache-control": "no-store" });
  });
  app.post(`${path}/logout`, ownPage, async (c) => {
    const { headers } = c.req.raw;
    if (sessionCookie.isDoubled(headers)) {
      throw new SigError("invalid_request", {
        action: "log out",
        reason: "the browser sent two session cookies",
        context: { hint: "Delete the cookies of this site to log out." },
      });
    }
    const [name, forget] = sessionCookie.set("", 0);
    try {
      const session = await sessions.find(sessionCookie.read(headers));
      if (session !== undefined) await sessions.end(session.sid);
    } catch (error) {
      // The next person at this computer must not be signed in, even if the
      // store can't end the session.
      const response = refuse(c, error);
      response.headers.append(name, forget);
      return response;
    }
    c.header(name, forget, { append: true });
    return c.body(null, 204);
  });
  addPage(app, `${path}/login`, {
    issuers: [],
    issuer: gate.issuer,
    require: gate.require,
    scopes: [],
    signIn: {
      challengeUrl: `${path}/challenge`,
      answerUrl: `${path}/session`,
      returns: true,
    },
    consents: false,
    demo: false,
  });
  app.use("*", async (c, next) => {
    try {
      c.set("sig", describe(await sessionOf(c.req.raw.headers)));
    } catch (error) {
      return refuse(c, error, gaveNoAnswer(error) ? 503 : undefined);
    }
    await next();
  });
  app.get(`${path}/session`, (c) => {
    const sig = c.get("sig");
    return sig === undefined
      ? refuse(c, unauthorized())
      : c.json(sig, 200, { "cache-control": "no-store" });
  });
  return app;
}

function describe<T extends Session<MatchedRelationship | null>>(
  session: T | undefined,
): SigSession | undefined {
  return session && {
    subject: session.subject,
    person: session.person,
    relationship: session.relationship,
    signedInAt: new Date(session.auth_time * 1000).toISOString(),
  };
}
