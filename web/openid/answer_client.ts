/** Answering an application by way of the browser (RFC 6749 §4.1.2, RFC 9207). @module */

import type { ServiceEnv } from "@sig/api/http";
import type { Hono } from "hono";
import { personOfSession, type Session } from "../sessions/session.ts";
import type { Client } from "./clients.ts";
import { CODE_LIFE_MS, type CodeBinding, newGrantId } from "./grants.ts";
import { invalidRequest, OAuthError } from "./oauth_error.ts";
import { requireGet, showAnswerForm, withParameters } from "./pages.ts";
import type { ProviderContext } from "./provider_context.ts";
import { seal, unseal } from "./keys.ts";

/** How a browser brings an answer: in the address, or in a form. */
export const RESPONSE_MODES: readonly string[] = Object.freeze([
  ...["query", "form_post"],
]);

/** Where an error goes. */
export interface Pending {
  readonly redirect_uri: string;
  /** What the answer must repeat. */
  readonly state?: string | undefined;
  /** Default: in the address. */
  readonly response_mode?: "form_post" | undefined;
}

/** Where a code goes, and what it is for. */
export interface PendingCode extends Pending, CodeBinding {
  /** What was asked for. */
  readonly scope: readonly string[];
}

/** What a form brings. */
interface FormAnswer {
  readonly redirect_uri: string;
  readonly fields: { readonly [name: string]: string | undefined };
  /** Milliseconds since 1970. */
  readonly expires_ms: number;
}

const PATH = "/oidc/form-post";
const PURPOSE = "form-post";

/** The address with an answer; it names us, as every answer does. */
function answerUrl(
  { issuer, keys, now }: Pick<ProviderContext, "issuer" | "keys" | "now">,
  { redirect_uri, state, response_mode }: Pending,
  answer: { readonly [name: string]: string },
): string {
  const fields = { ...answer, state, iss: issuer };
  if (response_mode !== "form_post") {
    return withParameters(redirect_uri, fields);
  }
  const expires_ms = now().getTime() + CODE_LIFE_MS;
  const sent: FormAnswer = { redirect_uri, fields, expires_ms };
  const sealed = seal(keys, PURPOSE, sent);
  return withParameters(issuer + PATH, { answer: sealed });
}

/** The address with an error. */
export function errorUrl(
  context: Pick<ProviderContext, "issuer" | "keys" | "now">,
  pending: Pending,
  { code, message }: OAuthError,
): string {
  const answer = { error: code, error_description: message };
  return answerUrl(context, pending, answer);
}

/**
 * The address with a code for a session that the application has joined, for as
 * much of the scope as the person granted.
 *
 * @throws {OAuthError} `login_required` when the session is over.
 * @throws {SigError} `store_unavailable`, `rate_limited`.
 */
export async function codeUrl(
  context: ProviderContext,
  { client_id, require }: Client,
  session: Session,
  pending: PendingCode,
): Promise<string> {
  const { scope, redirect_uri, code_challenge, nonce } = pending;
  const { sid, auth_time } = session;
  const subject = personOfSession(session);
  const grant = newGrantId();
  // Noted first: from then on the grant ends with the session.
  const joined = await context.sessions.addGrant(sid, client_id, grant);
  if (joined === undefined) {
    throw new OAuthError("login_required", "the session has ended meanwhile");
  }
  const code = await context.grants.create(grant, {
    ...{ client_id, subject, sid, joined: joined.id, require, auth_time },
    scope: scope.filter((each) => joined.granted.includes(each)),
    binding: { redirect_uri, code_challenge, nonce },
  });
  return answerUrl(context, pending, { code });
}

/**
 * `GET /oidc/form-post?answer=…`: a page whose form brings an answer to the
 * application (OAuth 2.0 Form Post Response Mode).
 */
export function addFormPostRoute(
  app: Hono<ServiceEnv>,
  { keys, now }: Pick<ProviderContext, "keys" | "now">,
): void {
  app.get(PATH, requireGet, (c) => {
    const text = c.req.query("answer") ?? "";
    const answer = unseal<FormAnswer>(keys, PURPOSE, text);
    if (answer === undefined || !(now().getTime() < answer.expires_ms)) {
      throw invalidRequest("this answer is over");
    }
    return showAnswerForm(answer.redirect_uri, answer.fields);
  });
}
