/**
 * The logout endpoint and logout tokens (OIDC RP-Initiated Logout 1.0).
 *
 * @module
 */

import { readForm, type ServiceEnv } from "@sig/api/internal/http";
import { equalInConstantTime } from "@sig/jose/internal";
import type { Context } from "hono";
import { sha256Base64Url } from "../store/digest.ts";
import { isOwnPage } from "../sessions/cookies.ts";
import type { LogoutNotification } from "../sessions/session.ts";
import {
  invalidRequest,
  type Parameters,
  readParameters,
} from "../sign_in/oauth.ts";
import {
  sendTo,
  showLogoutForm,
  showSignedOut,
  withParameters,
} from "../sign_in/pages.ts";
import type { Clients } from "./clients.ts";
import {
  type Hint,
  readHint,
  type Signer,
  signLogoutToken,
} from "./id_token.ts";
import type { ProviderContext } from "./provider_context.ts";

const NAMES = [
  "id_token_hint",
  "client_id",
  "post_logout_redirect_uri",
  "state",
];

/** `GET /oidc/logout`. Only the form may confirm a logout, not a link. */
export function logOutByLink(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  const given = new URL(c.req.url).searchParams;
  given.delete("csrf");
  return logOut(c, readParameters(given), context);
}

/**
 * `POST /oidc/logout`. A form of another site is redirected to a GET, since
 * browsers send no cookie with it.
 */
export async function logOutByForm(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  const form = await readForm(c);
  return form.has("csrf") && isOwnPage(c.req.raw.headers, context.issuer)
    ? await logOut(c, readParameters(form), context)
    : sendTo(`${context.issuer}/oidc/logout?${form}`);
}

/**
 * Ends the browser's session. A request with an ID token of this session comes
 * from the application; any other link leads to a confirmation form.
 */
async function logOut(
  c: Context<ServiceEnv>,
  parameters: Parameters,
  context: ProviderContext,
): Promise<Response> {
  const { sessions, sessionCookie, notifyNow } = context;
  const token = parameters.get("id_token_hint");
  const hint = token === undefined ? undefined : await readHint(context, token);
  const target = readTarget(parameters, hint, context);
  const { headers } = c.req.raw;
  if (sessionCookie.isDoubled(headers)) {
    throw invalidRequest(
      "the browser sent two session cookies; delete the cookies of this site to sign out",
    );
  }
  const cookie = sessionCookie.read(headers);
  const session = await sessions.find(cookie);
  if (session !== undefined && cookie !== undefined) {
    const csrf = sha256Base64Url(`logout ${cookie}`);
    const given = parameters.get("csrf");
    const isMeant = given === undefined
      ? hint !== undefined && hint.sid === session.sid
      : equalInConstantTime(given, csrf);
    if (!isMeant) {
      const fields = Object.fromEntries(
        NAMES.map((name) => [name, parameters.get(name)]),
      );
      const origin = target === undefined ? undefined : originOf(target);
      return showLogoutForm({ ...fields, csrf }, origin);
    }
    await sessions.end(session.sid);
    notifyNow();
  }
  const forget = sessionCookie.set("", 0);
  if (target !== undefined) return sendTo(target, [forget]);
  return showSignedOut([forget]);
}

/** Returns the address to redirect to after the logout, if it is registered. */
function readTarget(
  parameters: Parameters,
  hint: Hint | undefined,
  { clients }: ProviderContext,
): string | undefined {
  const named = parameters.get("client_id");
  if (named !== undefined && hint !== undefined && named !== hint.aud) {
    throw invalidRequest("client_id and id_token_hint name two applications");
  }
  const uri = parameters.get("post_logout_redirect_uri");
  if (uri === undefined) return undefined;
  const client = clients().get(named ?? hint?.aud ?? "");
  // With an unregistered address the session ends without a redirect.
  return client?.post_logout_redirect_uris.includes(uri)
    ? withParameters(uri, { state: parameters.get("state") })
    : undefined;
}

/** Returns the origin as a source for a Content-Security-Policy. */
function originOf(uri: string): string {
  const { origin, protocol } = new URL(uri);
  return origin === "null" ? protocol : origin;
}

/** Timeout of a request to an application in milliseconds. */
const TIMEOUT_MS = 5_000;

/**
 * Returns a function that sends a logout token to an application, and returns
 * whether it has arrived: the response must be 200 or 204.
 */
export function createBackchannel(
  signer: Signer,
  clients: () => Clients,
  fetch: (request: Request) => Promise<Response>,
): (notification: LogoutNotification) => Promise<boolean> {
  return async ({ client_id, subject, sid }) => {
    const client = clients().get(client_id);
    const uri = client?.backchannel_logout_uri;
    if (client === undefined || uri === undefined) return false;
    const token = await signLogoutToken(signer, client, { subject, sid });
    try {
      const response = await fetch(
        new Request(uri, {
          method: "POST",
          body: new URLSearchParams({ logout_token: token }),
          // Redirects are not followed, since only this address is configured.
          redirect: "manual",
          signal: AbortSignal.timeout(TIMEOUT_MS),
        }),
      );
      await response.body?.cancel();
      return response.status === 200 || response.status === 204;
    } catch {
      // Network errors and timeouts are retried later.
      return false;
    }
  };
}
