/**
 * A sign-in on the consent page (docs/openid.md). The application's request is
 * sealed and kept in the browser's address; the server stores nothing.
 *
 * @module
 */

import type { ServiceEnv } from "@sig/api/internal/http";
import type { RecordStore } from "@sig/consumer/store";
import { SigError } from "@sig/core";
import { equalInConstantTime } from "@sig/jose/internal";
import type { Context } from "hono";
import { sha256Base64Url } from "../store/digest.ts";
import type { HostCookie } from "../sessions/cookies.ts";
import type { Recheck } from "../sessions/recheck.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { invalidRequest } from "./oauth.ts";
import { sendTo } from "./pages.ts";
import type { NameOf } from "./person.ts";
import { seal, type SealingKeys, unseal } from "./seal.ts";

/** An application that people sign in to, as pages display it. */
export interface Application {
  /** Its unique id. */
  readonly client_id: string;
  /** Its display name. */
  readonly client_name: string;
  /** Its requirements besides those of the server, `key=value` each. */
  readonly require: readonly string[];
}

/** The destination of an authorization response. */
export interface Pending {
  readonly redirect_uri: string;
  /** The `state` to repeat in the response. */
  readonly state?: string | undefined;
  /** The response mode (default: query). */
  readonly response_mode?: "form_post" | undefined;
}

/** The destination of a code, and the request that it is for. */
export interface PendingCode extends Pending {
  readonly scope: readonly string[];
  /** The S256 challenge of PKCE; absent without PKCE. */
  readonly code_challenge?: string | undefined;
  /** The nonce to repeat in the ID token. */
  readonly nonce?: string | undefined;
}

/** The state that sign-ins share. */
export interface SignInContext extends Recheck {
  /** The issuer identifier: an origin, never taken from a request. */
  readonly issuer: string;
  /** Returns the current application or host with a client id. */
  readonly applicationOf: (clientId: string) => Application | undefined;
  readonly keys: SealingKeys;
  readonly store: RecordStore;
  readonly sessions: Sessions;
  readonly sessionCookie: HostCookie;
  /** The cookie that identifies the browser during a login. */
  readonly browserCookie: HostCookie;
  /** Returns the operator's display name of a person. */
  readonly nameOf?: NameOf | undefined;
  readonly now: () => Date;
}

/**
 * A pending request: an application waits for a code, or a proxy for a session.
 */
type Waiting = (PendingCode | PendingGate) & {
  /** The client id of the application. */
  readonly client_id: string;
  /**
   * The only person who may answer: the DID of one of their keys, or their root
   * DID.
   */
  readonly subject?: string | undefined;
};

interface PendingGate {
  /** The requested scopes. */
  readonly scope: readonly string[];
  /** The address on this server that continues after the login. */
  readonly return_to: string;
}

/** A pending sign-in, as sealed. */
type Interaction = Waiting & {
  /** SHA-256 of the cookie of the only browser that may answer. */
  readonly browser_sha256: string;
};

/** Lifetime of a pending sign-in in milliseconds. */
const LIFE_MS = 15 * 60_000;
/**
 * Maximum length of a sealed sign-in in characters. The headers of its redirect
 * must fit into 4 KiB, the default limit of nginx.
 */
const MAX_SEALED_LENGTH = 3_072;

const PURPOSE = "sign-in";

/**
 * Redirects the browser to the consent page. A cookie identifies the browser,
 * so that no other browser can continue.
 *
 * @throws {OAuthError} `invalid_request` for a request that is too long.
 */
export function beginInteraction(
  c: Context<ServiceEnv>,
  context: SignInContext,
  waiting: Waiting,
): Response {
  const { browserCookie, issuer } = context;
  const browser = browserCookie.secretIn(c.req.raw.headers);
  const browser_sha256 = sha256Base64Url(browser);
  const id = seal(context, PURPOSE, { ...waiting, browser_sha256 }, LIFE_MS);
  if (id.length > MAX_SEALED_LENGTH) {
    throw invalidRequest(
      "the request is too long: state, nonce, login_hint and rd together",
    );
  }
  return sendTo(`${issuer}/#/sign-in/${id}`, [
    browserCookie.set(browser, LIFE_MS / 1000),
  ]);
}

/**
 * Reads a sign-in that this browser started.
 *
 * @throws {SigError} `not_found`
 */
export function openInteraction(
  headers: Headers,
  id: string,
  context: SignInContext,
) {
  const { applicationOf, browserCookie } = context;
  const interaction = id.length > MAX_SEALED_LENGTH
    ? undefined
    : unseal<Interaction>(context, PURPOSE, id);
  const browser = browserCookie.read(headers);
  const client = applicationOf(interaction?.client_id ?? "");
  const digest = sha256Base64Url(browser ?? "");
  if (
    interaction === undefined || client === undefined ||
    !equalInConstantTime(digest, interaction.browser_sha256)
  ) throw unknownSignIn();
  // Its challenges are bound to this sign-in.
  return { interaction, client, boundTo: sha256Base64Url(id) };
}

/** Returns the error of a sign-in that this browser can't answer. */
export function unknownSignIn(): SigError {
  return new SigError("not_found", {
    action: "sign in",
    reason: "this request is unknown in this browser, or has expired",
    context: { hint: "Go back to the application and begin again." },
  });
}
