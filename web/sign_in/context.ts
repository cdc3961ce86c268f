/** What the OpenID Provider and forward auth share. @module */

import type { HostCookie } from "../sessions/cookies.ts";
import type { Recheck } from "../sessions/recheck.ts";
import type { Session } from "../sessions/session.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { OAuthError } from "./oauth_error.ts";
import type { NameOf } from "./person.ts";
import type { SealingKeys } from "./seal.ts";

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

/** The members of a request that a code is bound to. */
export interface CodeBinding {
  /** The redirect_uri of the request. */
  readonly redirect_uri: string;
  /** The S256 challenge of PKCE; absent without PKCE. */
  readonly code_challenge?: string | undefined;
  /** The nonce to repeat in the ID token. */
  readonly nonce?: string | undefined;
}

/** The destination of a code, and the request that it is for. */
export interface PendingCode extends Pending, CodeBinding {
  readonly scope: readonly string[];
}

/** How a provider answers the applications that wait for a code. */
export interface CodeAnswers {
  /** Whether the application still has this redirect_uri. */
  isRegistered(clientId: string, redirectUri: string): boolean;
  /** Returns the address of a response with a new code. */
  codeUrl(
    application: Application,
    session: Session,
    pending: PendingCode,
  ): Promise<string>;
  /** Returns the address of an error response. */
  errorUrl(pending: Pending, error: OAuthError): string;
}

/** The state that sign-ins share. */
export interface SignInContext extends Recheck {
  /** The issuer identifier: an origin, never taken from a request. */
  readonly issuer: string;
  /** Returns the current applications and hosts by their client ids. */
  readonly applications: () => ReadonlyMap<string, Application>;
  readonly answers: CodeAnswers;
  readonly keys: SealingKeys;
  readonly sessions: Sessions;
  readonly sessionCookie: HostCookie;
  /** The cookie that identifies the browser during a login. */
  readonly browserCookie: HostCookie;
  /** Returns the operator's display name of a person. */
  readonly nameOf?: NameOf | undefined;
  readonly now: () => Date;
}
