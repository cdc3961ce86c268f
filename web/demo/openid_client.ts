/**
 * An application's half of OpenID Connect: code, PKCE and logout tokens, with
 * nothing but `fetch` and `jose`.
 *
 * @module
 */

import {
  base64url,
  createRemoteJWKSet,
  type JWTPayload,
  jwtVerify,
} from "jose";
import type { Visitor } from "./demo_pages.ts";

/** Who the application is, and where it logs people in. */
interface OpenIdClientOptions {
  /** The provider's issuer identifier. */
  readonly issuer: string;
  /** The application's id there. */
  readonly client_id: string;
  /** Its secret. */
  readonly client_secret: string;
  /** Where it is answered. */
  readonly redirect_uri: string;
  /** The clock. */
  readonly now: () => Date;
}

/** What must be remembered while a person is at the provider. */
export interface PendingLogin {
  /** Comes back with the answer, in the same browser. */
  readonly state: string;
  /** Comes back within the ID token. */
  readonly nonce: string;
  /** Shows that who brings the code has asked for it (PKCE). */
  readonly verifier: string;
}

/** A person, and the session at the provider that they came by. */
export interface SignedIn extends Visitor {
  /** The session's name, which a logout token has too. */
  readonly sid: string;
  /** Seconds since 1970; when the person signed there. */
  readonly authTime: number;
}

/** The application's half. */
export interface OpenIdClient {
  /** Where to send a person, and what to remember until they are back. */
  begin(): Promise<{ readonly location: string; readonly login: PendingLogin }>;
  /** Who came back; undefined when they declined. Throws for all else. */
  finish(answer: URL, login: PendingLogin): Promise<SignedIn | undefined>;
  /** The session that a logout token ends. Throws for any other token. */
  readLogoutToken(token: string): Promise<string>;
}

interface Discovered {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
}

const ALGORITHM = "ES256";
const TIMEOUT_MS = 10_000;
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Makes it; the provider is asked when the first person comes. */
export function createOpenIdClient(options: OpenIdClientOptions): OpenIdClient {
  const { issuer, client_id, client_secret, redirect_uri, now } = options;
  let asked: Promise<Provider> | undefined;
  // A failure is not remembered.
  const provider = () =>
    asked ??= discover(issuer).catch((error) => {
      asked = undefined;
      throw error;
    });

  async function verify(token: string, typ: string): Promise<JWTPayload> {
    const { keys } = await provider();
    const { payload } = await jwtVerify(token, keys, {
      ...{ issuer, audience: client_id, typ, currentDate: now() },
      algorithms: [ALGORITHM],
    });
    return payload;
  }

  return {
    async begin() {
      const { authorization_endpoint } = await provider();
      const login = {
        state: randomText(),
        nonce: randomText(),
        verifier: randomText(),
      };
      const location = new URL(authorization_endpoint);
      const digest = await crypto.subtle.digest(
        "SHA-256",
        new TextEncoder().encode(login.verifier),
      );
      location.search = new URLSearchParams({
        ...{ client_id, redirect_uri, response_type: "code" },
        scope: "openid profile groups",
        ...{ state: login.state, nonce: login.nonce },
        code_challenge: base64url.encode(new Uint8Array(digest)),
        code_challenge_method: "S256",
      }).toString();
      return { location: location.href, login };
    },
    async finish({ searchParams: answer }, { state, nonce, verifier }) {
      const { token_endpoint } = await provider();
      const isOurs = answer.get("state") === state &&
        answer.get("iss") === issuer;
      if (!isOurs) throw new Error("the answer is not for this browser");
      if (answer.get("error") === "access_denied") return undefined;
      const response = await ask(token_endpoint, {
        method: "POST",
        headers: {
          authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}`,
        },
        body: new URLSearchParams({
          grant_type: "authorization_code",
          code: answer.get("code") ?? "",
          redirect_uri,
          code_verifier: verifier,
        }),
      });
      const { id_token } = await response.json();
      const claims = await verify(String(id_token), "JWT");
      if (claims.nonce !== nonce) throw new Error("this token is of another");
      const { sub = "", sid, auth_time, name, groups } = claims;
      return {
        subject: sub,
        sid: String(sid),
        authTime: Number(auth_time),
        name: typeof name === "string" ? name : sub,
        groups: Array.isArray(groups) ? groups.map(String) : [],
      };
    },
    async readLogoutToken(token) {
      const { events, sid, nonce } = await verify(token, "logout+jwt");
      const isLogout = typeof events === "object" && events !== null &&
        Object.hasOwn(events, LOGOUT_EVENT) && nonce === undefined;
      if (isLogout && typeof sid === "string") return sid;
      throw new Error("the token is not a logout token");
    },
  };
}

interface Provider extends Discovered {
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
}

/** What the provider says of itself (OpenID Connect Discovery 1.0). */
async function discover(issuer: string): Promise<Provider> {
  const response = await ask(`${issuer}/.well-known/openid-configuration`);
  const found: Discovered & { readonly issuer: string } = await response.json();
  if (found.issuer !== issuer) throw new Error("this is another provider");
  return { ...found, keys: createRemoteJWKSet(new URL(found.jwks_uri)) };
}

async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, {
    ...init,
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return response;
  await response.body?.cancel();
  throw new Error(`the provider answered ${response.status}`);
}

/** What nobody guesses. */
export function randomText(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}
