/** The authorization endpoint (OIDC Core §3.1.2). @module */

import { readForm, type ServiceEnv } from "@sig/api/internal/http";
import type { Context, Hono } from "hono";
import { type Session, sessionClient } from "../sessions/session.ts";
import type { Pending } from "../sign_in/context.ts";
import { codeUrl, errorUrl } from "./answer_client.ts";
import {
  type AuthorizeRequest,
  readAuthorizeRequest,
} from "./authorize_request.ts";
import type { Client } from "./clients.ts";
import { beginInteraction } from "../sign_in/interaction.ts";
import {
  invalidRequest,
  OAuthError,
  toOAuthError,
} from "../sign_in/oauth_error.ts";
import { requireGet, sendTo } from "../sign_in/pages.ts";
import { onlyValue } from "../sign_in/parameters.ts";
import type { ProviderContext } from "./provider_context.ts";

const MAX_STATE_LENGTH = 2_048;
/** Maximum clock difference of two replicas in seconds. */
const CLOCK_SKEW_SECONDS = 60;
const PATH = "/oidc/authorize";
const SEE_ENTRY = "see docs/openid.md, An entry of the file";

/**
 * Adds `GET` and `POST /oidc/authorize`. If the browser has a session that the
 * issuer still confirms, and the person has approved the application, the
 * browser is redirected back with a code; otherwise to the consent page. A POST
 * is redirected to a GET with the same parameters, since browsers send no cookie
 * with cross-site forms.
 */
export function addAuthorizeRoutes(
  app: Hono<ServiceEnv>,
  context: ProviderContext,
): void {
  app.get(PATH, requireGet, (c) => authorize(c, context));
  app.post(PATH, async (c) => {
    return sendTo(`${context.issuer + PATH}?${await readForm(c)}`);
  });
}

async function authorize(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  const given = new URL(c.req.url).searchParams;
  // Without a valid client and redirect_uri, nothing is redirected.
  const { client, redirect_uri } = requireAddress(given, context);
  const state = onlyValue(given, "state");
  const pending: Pending = {
    redirect_uri,
    state,
    response_mode: onlyValue(given, "response_mode") === "form_post"
      ? "form_post"
      : undefined,
  };
  let isSilent = false;
  try {
    if (state !== undefined && state.length > MAX_STATE_LENGTH) {
      throw invalidRequest("state is too long");
    }
    const request = await readAuthorizeRequest(given, client, context);
    const { scope, code_challenge, nonce, subject } = request;
    isSilent = request.isSilent;
    const session = await findSession(c, context, client, request);
    const asked = { ...pending, scope, code_challenge, nonce };
    if (typeof session === "object") {
      return sendTo(await codeUrl(context, client, session, asked));
    }
    if (isSilent) throw new OAuthError(session, WHY[session]);
    const { client_id } = client;
    return beginInteraction(c, context, { ...asked, client_id, subject });
  } catch (error) {
    // With prompt=none, every error goes to the application.
    if (!(isSilent || error instanceof OAuthError)) throw error;
    const refusal = toOAuthError(error);
    if (refusal.code === "server_error") c.set("thrown", error);
    return sendTo(errorUrl(context, pending, refusal));
  }
}

function requireAddress(
  given: URLSearchParams,
  { clients }: ProviderContext,
): { readonly client: Client; readonly redirect_uri: string } {
  const client = clients().get(onlyValue(given, "client_id") ?? "");
  if (client === undefined) {
    throw invalidRequest("unknown client_id", SEE_ENTRY);
  }
  const redirect_uri = onlyValue(given, "redirect_uri");
  if (
    redirect_uri !== undefined && client.redirect_uris.includes(redirect_uri)
  ) return { client, redirect_uri };
  throw invalidRequest(
    "redirect_uri is not registered for this application",
    SEE_ENTRY,
  );
}

const WHY = {
  login_required: "no permitted user is signed in",
  consent_required: "the person has not approved this application yet",
} as const;

/** Returns the browser's session, or the reason why it is insufficient. */
async function findSession(
  c: Context<ServiceEnv>,
  { sessions, sessionCookie, recheckSession, now }: ProviderContext,
  client: Client,
  { mustSign, subject, maxAge, scope }: AuthorizeRequest,
): Promise<Session | keyof typeof WHY> {
  const session = mustSign
    ? undefined
    : await sessions.find(sessionCookie.read(c.req.raw.headers));
  const age = now().getTime() / 1000 - (session?.auth_time ?? NaN);
  const isMeant = session !== undefined &&
    (subject === undefined || subject === session.subject ||
      subject === session.person) &&
    (maxAge === undefined ||
      // A negative age means that a clock was set back.
      (age <= maxAge && age >= -CLOCK_SKEW_SECONDS));
  if (!isMeant) return "login_required";
  const { asked = [] } = sessionClient(session, client.client_id) ?? {};
  if (!scope.every((each) => asked.includes(each))) return "consent_required";
  const relationship = await recheckSession(session, { client });
  return relationship === undefined ? "login_required" : session;
}
