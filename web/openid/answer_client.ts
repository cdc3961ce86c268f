/**
 * Sends authorization responses to applications through the browser (RFC 6749
 * §4.1.2, RFC 9207).
 *
 * @module
 */

import { type Session, sessionClient } from "../sessions/session.ts";
import type {
  Application,
  Pending,
  PendingCode,
} from "../sign_in/interaction.ts";
import { invalidRequest, type OAuthError } from "../sign_in/oauth.ts";
import { showAnswerForm, withParameters } from "../sign_in/pages.ts";
import { seal, unseal } from "../sign_in/seal.ts";
import { CODE_LIFE_MS } from "./grants.ts";
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
}

const PURPOSE = "form-post";

/** Returns the address of a response, which contains `iss` (RFC 9207). */
function answerUrl(
  context: ProviderContext,
  { redirect_uri, state, response_mode }: Pending,
  answer: { readonly [name: string]: string },
): string {
  const { issuer } = context;
  const fields = { ...answer, state, iss: issuer };
  if (response_mode !== "form_post") {
    return withParameters(redirect_uri, fields);
  }
  const sent: FormAnswer = { redirect_uri, fields };
  return withParameters(`${issuer}/oidc/form-post`, {
    answer: seal(context, PURPOSE, sent, CODE_LIFE_MS),
  });
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
 * the scope, and returns the address of the response. The code is invalid if the
 * session has ended meanwhile.
 *
 * @throws {SigError} `store_unavailable`, `rate_limited`.
 */
export async function codeUrl(
  context: ProviderContext,
  { client_id, require }: Application,
  session: Session,
  pending: PendingCode,
): Promise<string> {
  const { scope, redirect_uri, code_challenge, nonce } = pending;
  const { sid, auth_time, person: subject, expires_ms } = session;
  const joined = sessionClient(session, client_id)!;
  const code = await context.grants.create({
    client_id,
    subject,
    sid,
    joined: joined.id,
    require,
    auth_time,
    scope: scope.filter((each) => joined.granted.includes(each)),
    binding: { redirect_uri, code_challenge, nonce },
  }, new Date(expires_ms));
  return answerUrl(context, pending, { code });
}

/**
 * `GET /oidc/form-post?answer=…`: returns a page whose form submits the
 * response to the application (OAuth 2.0 Form Post Response Mode).
 */
export function showFormAnswer(
  answer: string,
  context: ProviderContext,
): Response {
  const sent = unseal<FormAnswer>(context, PURPOSE, answer);
  if (sent === undefined) throw invalidRequest("this answer has expired");
  return showAnswerForm(sent.redirect_uri, sent.fields);
}
