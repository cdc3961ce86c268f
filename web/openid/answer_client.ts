/**
 * Sends authorization responses to applications through the browser (RFC 6749
 * §4.1.2, RFC 9207).
 *
 * @module
 */

import type { ServiceEnv } from "@sig/api/internal/http";
import type { Hono } from "hono";
import type { Session } from "../sessions/session.ts";
import type { Application, Pending, PendingCode } from "../sign_in/context.ts";
import { invalidRequest, OAuthError } from "../sign_in/oauth_error.ts";
import {
  requireGet,
  showAnswerForm,
  withParameters,
} from "../sign_in/pages.ts";
import { seal, unseal } from "../sign_in/seal.ts";
import { CODE_LIFE_MS, newGrantId } from "./grants.ts";
import type { ProviderContext } from "./provider_context.ts";

/** The supported response modes: query parameters or a form. */
export const RESPONSE_MODES: readonly string[] = Object.freeze([
  "query",
  "form_post",
]);

/** The content of a form response. */
interface FormAnswer {
  readonly redirect_uri: string;
  readonly fields: { readonly [name: string]: string | undefined };
  /** Expiry in milliseconds since 1970. */
  readonly expires_ms: number;
}

const PATH = "/oidc/form-post";
const PURPOSE = "form-post";

/** Returns the address of a response, which contains `iss` (RFC 9207). */
function answerUrl(
  context: ProviderContext,
  { redirect_uri, state, response_mode }: Pending,
  answer: { readonly [name: string]: string },
): string {
  const { issuer, now } = context;
  const fields = { ...answer, state, iss: issuer };
  if (response_mode !== "form_post") {
    return withParameters(redirect_uri, fields);
  }
  const expires_ms = now().getTime() + CODE_LIFE_MS;
  const sent: FormAnswer = { redirect_uri, fields, expires_ms };
  const sealed = seal(context, PURPOSE, sent);
  return withParameters(issuer + PATH, { answer: sealed });
}

/** Returns the address of an error response. */
export function errorUrl(
  context: ProviderContext,
  pending: Pending,
  { code, message, advice }: OAuthError,
): string {
  const error_description = advice ? `${message}; ${advice}` : message;
  const answer = { error: code, error_description };
  return answerUrl(context, pending, answer);
}

/**
 * Creates a code for an application of the session, with the granted part of
 * the scope, and returns the address of the response.
 *
 * @throws {OAuthError} `login_required` if the session has ended.
 * @throws {SigError} `store_unavailable`, `rate_limited`.
 */
export async function codeUrl(
  context: ProviderContext,
  { client_id, require }: Application,
  session: Session,
  pending: PendingCode,
): Promise<string> {
  const { scope, redirect_uri, code_challenge, nonce } = pending;
  const { sid, auth_time, person: subject } = session;
  const grant = newGrantId();
  // Recorded in the session first, so that the grant ends with the session.
  const joined = await context.sessions.addGrant(sid, client_id, grant);
  if (joined === undefined) {
    throw new OAuthError("login_required", "the session has ended meanwhile");
  }
  const code = await context.grants.create(grant, {
    client_id,
    subject,
    sid,
    joined: joined.id,
    require,
    auth_time,
    scope: scope.filter((each) => joined.granted.includes(each)),
    binding: { redirect_uri, code_challenge, nonce },
  });
  return answerUrl(context, pending, { code });
}

/**
 * `GET /oidc/form-post?answer=…`: returns a page whose form submits the
 * response to the application (OAuth 2.0 Form Post Response Mode).
 */
export function addFormPostRoute(
  app: Hono<ServiceEnv>,
  context: ProviderContext,
): void {
  app.get(PATH, requireGet, (c) => {
    const text = c.req.query("answer") ?? "";
    const answer = unseal<FormAnswer>(context, PURPOSE, text);
    if (
      answer === undefined || !(context.now().getTime() < answer.expires_ms)
    ) {
      throw invalidRequest("this answer has expired");
    }
    return showAnswerForm(answer.redirect_uri, answer.fields);
  });
}
