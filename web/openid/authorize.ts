/** Where applications send people to log in (OIDC Core §3.1.2). @module */

import type { ServiceEnv } from "@sig/api/http";
import type { Context, Hono } from "hono";
import type { Session } from "../sessions/session.ts";
import { codeRedirect, errorRedirect, type Pending } from "./answer_client.ts";
import {
  type AuthorizeRequest,
  readAuthorizeRequest,
} from "./authorize_request.ts";
import type { Client } from "./clients.ts";
import { type CodeBinding, newGrantId } from "./grants.ts";
import { beginInteraction } from "./interaction.ts";
import { OAuthError, toOAuthError } from "./oauth_error.ts";
import { formToLink, requireGet, sendTo } from "./pages.ts";
import { onlyValue } from "./parameters.ts";
import type { ProviderContext } from "./provider_context.ts";

const MAX_STATE_LENGTH = 2_048;
/** Seconds that the clocks of two replicas may differ. */
const CLOCK_SKEW_SECONDS = 60;
const PATH = "/oidc/authorize";

/**
 * `GET` and `POST /oidc/authorize`. A browser with a session that the issuer
 * still confirms goes straight back with a code; every other one to the consent
 * page. A form becomes a link: only with that do browsers send their cookie.
 */
export function addAuthorizeRoutes(
  app: Hono<ServiceEnv>,
  context: ProviderContext,
): void {
  app.get(
    PATH,
    requireGet,
    (c) => c.get("budget").waitFor("sign-ins", () => authorize(c, context)),
  );
  app.post(PATH, (c) => formToLink(c, context.issuer + PATH));
}

async function authorize(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  const given = new URL(c.req.url).searchParams;
  // Until both are known, nothing is sent anywhere.
  const { client, redirect_uri } = requireAddress(given, context);
  const state = onlyValue(given, "state");
  const pending = { redirect_uri, state };
  try {
    if (state !== undefined && state.length > MAX_STATE_LENGTH) {
      throw new OAuthError("invalid_request", "state is too long");
    }
    const request = await readAuthorizeRequest(given, client, context);
    if (request.isSilent) {
      return await answerSilently(c, context, client, request, pending);
    }
    return await signedInLocation(
      ...[c, context, client, request, pending] as const,
    ) ?? await beginInteraction(c, context, {
      client_id: client.client_id,
      binding: bindingOf(request, redirect_uri),
      ...(state === undefined ? {} : { state }),
      scope: request.scope,
      ...(request.subject === undefined ? {} : { subject: request.subject }),
    });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return sendTo(errorRedirect(context, pending, error));
  }
}

function bindingOf(
  { code_challenge, nonce }: AuthorizeRequest,
  redirect_uri: string,
): CodeBinding {
  return {
    redirect_uri,
    code_challenge,
    ...(nonce === undefined ? {} : { nonce }),
  };
}

function requireAddress(
  given: URLSearchParams,
  { clients }: ProviderContext,
): { readonly client: Client; readonly redirect_uri: string } {
  const client = clients().get(onlyValue(given, "client_id") ?? "");
  if (client === undefined) {
    throw new OAuthError("invalid_request", "unknown client_id");
  }
  const redirect_uri = onlyValue(given, "redirect_uri");
  if (
    redirect_uri !== undefined && client.redirectUris.includes(redirect_uri)
  ) return { client, redirect_uri };
  throw new OAuthError(
    "invalid_request",
    "redirect_uri is not registered for this application",
  );
}

/** Without a page: a code, or why there is none. */
async function answerSilently(
  c: Context<ServiceEnv>,
  context: ProviderContext,
  client: Client,
  request: AuthorizeRequest,
  pending: Pending,
): Promise<Response> {
  try {
    const answer = await signedInLocation(
      ...[c, context, client, request, pending] as const,
    );
    if (answer !== undefined) return answer;
    throw new OAuthError("login_required", "nobody is signed in who may");
  } catch (error) {
    const told = toOAuthError(error);
    if (told.code === "server_error") c.set("thrown", error);
    return sendTo(errorRedirect(context, pending, told));
  }
}

/** Back with a code, if the browser's session is enough for this request. */
async function signedInLocation(
  c: Context<ServiceEnv>,
  context: ProviderContext,
  client: Client,
  request: AuthorizeRequest,
  { redirect_uri, state }: Pending,
): Promise<Response | undefined> {
  if (request.mustSign) return undefined;
  const { sessions, sessionCookie, recheckSession } = context;
  const cookie = sessionCookie.read(c.req.raw.headers);
  const session = await sessions.find(cookie);
  if (session === undefined || !isFor(session, request, context)) {
    return undefined;
  }
  if (await recheckSession(session, { client }) === undefined) {
    return undefined;
  }
  const grant = newGrantId();
  const { client_id: clientId } = client;
  const joined = await sessions.join(session.sid, { clientId, grant });
  if (joined === undefined) return undefined;
  const binding = bindingOf(request, redirect_uri);
  const asked = { grant, binding, scope: request.scope, state };
  return sendTo(await codeRedirect(context, client, joined, asked));
}

function isFor(
  { subject, auth_time, withheld = [] }: Session,
  request: AuthorizeRequest,
  { now }: ProviderContext,
): boolean {
  const age = now().getTime() / 1000 - auth_time;
  // What the person kept back is theirs to give, not to be had by asking again.
  return !request.scope.some((each) => withheld.includes(each)) &&
    (request.subject === undefined || request.subject === subject) &&
    (request.maxAge === undefined ||
      // Nobody has signed in the future: a clock was set back.
      (age <= request.maxAge && age >= -CLOCK_SKEW_SECONDS));
}
