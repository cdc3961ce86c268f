/** The authorization endpoint (OIDC Core §3.1.2). @module */

import type { ServiceEnv } from "@sig/api/internal/http";
import type { Context } from "hono";
import { isSecret } from "../store/digest.ts";
import { type Session, sessionClient } from "../sessions/session.ts";
import { beginInteraction, type Pending } from "../sign_in/interaction.ts";
import {
  invalidRequest,
  OAuthError,
  onlyValue,
  type Parameters,
  readParameters,
  toOAuthError,
} from "../sign_in/oauth.ts";
import { sendTo } from "../sign_in/pages.ts";
import { codeUrl, errorUrl, RESPONSE_MODES } from "./answer_client.ts";
import type { Client } from "./clients.ts";
import { readHint, SCOPES, type Signer } from "./id_token.ts";
import type { ProviderContext } from "./provider_context.ts";

const MAX_STATE_LENGTH = 2_048;
/** Maximum clock difference of two replicas in seconds. */
const CLOCK_SKEW_SECONDS = 60;
const SEE_ENTRY = "see docs/openid.md, An entry of the file";

/**
 * `GET /oidc/authorize`. If the browser has a session that the issuer still
 * confirms, and the person has approved the application, the browser is
 * redirected back with a code; otherwise to the consent page.
 */
export async function authorize(
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
    const request = await readRequest(given, client, context);
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

/** Parameters that must be rejected, not ignored, with their error codes. */
const NOT_SUPPORTED = {
  request: "request_not_supported",
  request_uri: "request_uri_not_supported",
  registration: "registration_not_supported",
} as const;

const PROMPTS = ["none", "login", "consent", "select_account"];
const MAX_NONCE_LENGTH = 1_024;

/** Where developers find the setting of their library. */
const SEE_LIBRARIES = "see docs/openid.md, Libraries";

/** An authorization request whose client and redirect_uri are valid. */
type AuthorizeRequest = Awaited<ReturnType<typeof readRequest>>;

/**
 * Reads a request after its client and redirect_uri have been validated.
 *
 * @throws {OAuthError} to send to the application.
 */
async function readRequest(
  given: URLSearchParams,
  client: Client,
  signer: Signer,
) {
  const parameters = readParameters(given);
  for (const [name, code] of Object.entries(NOT_SUPPORTED)) {
    if (parameters.get(name) !== undefined) {
      throw new OAuthError(code, `${name} is not supported`);
    }
  }
  if (parameters.require("response_type") !== "code") {
    throw new OAuthError(
      "unsupported_response_type",
      "response_type must be code",
      { advice: SEE_LIBRARIES },
    );
  }
  if (!RESPONSE_MODES.includes(parameters.get("response_mode") ?? "query")) {
    throw invalidRequest(
      `response_mode must be ${RESPONSE_MODES.join(" or ")}`,
    );
  }
  const asked = parameters.require("scope").split(" ");
  if (!asked.includes("openid")) {
    throw new OAuthError("invalid_scope", "scope must contain openid");
  }
  const prompt = readPrompt(parameters);
  const maxAge = readMaxAge(parameters);
  const nonce = parameters.get("nonce");
  if (nonce !== undefined && nonce.length > MAX_NONCE_LENGTH) {
    throw invalidRequest("nonce is too long");
  }
  if (nonce === undefined && !client.pkce) {
    throw invalidRequest("nonce is required", SEE_LIBRARIES);
  }
  return {
    // Unknown scopes are ignored (RFC 6749 §3.3); the response contains the
    // granted scopes.
    scope: SCOPES.filter((scope) => asked.includes(scope)),
    code_challenge: readCodeChallenge(parameters, client),
    nonce,
    /** Whether no page may be shown. */
    isSilent: prompt.has("none"),
    /** Whether the person must sign even with a session. */
    // A max_age of 0 is the same as prompt=login (OIDC Core §3.1.2.1).
    mustSign: maxAge === 0 || (prompt.size > 0 && !prompt.has("none")),
    maxAge,
    /** The DID of the only person who may log in. */
    subject: await readSubject(parameters, client, signer),
  };
}

function readPrompt(parameters: Parameters): ReadonlySet<string> {
  const prompt = new Set(parameters.get("prompt")?.split(" "));
  const isKnown = Array.from(prompt).every((each) => PROMPTS.includes(each));
  if (isKnown && !(prompt.has("none") && prompt.size > 1)) return prompt;
  throw invalidRequest(
    "prompt must be none, or of login, consent, select_account",
  );
}

function readCodeChallenge(
  parameters: Parameters,
  { pkce }: Client,
): string | undefined {
  const isGiven = parameters.get("code_challenge") !== undefined ||
    parameters.get("code_challenge_method") !== undefined;
  if (!pkce && !isGiven) return undefined;
  const challenge = parameters.require("code_challenge", SEE_LIBRARIES);
  // The default method would be plain (RFC 7636 §4.3), which does not protect.
  if (parameters.get("code_challenge_method") !== "S256") {
    throw invalidRequest("code_challenge_method must be S256", SEE_LIBRARIES);
  }
  if (isSecret(challenge)) return challenge;
  throw invalidRequest("code_challenge is not an S256 digest");
}

function readMaxAge(parameters: Parameters): number | undefined {
  const text = parameters.get("max_age");
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw invalidRequest("max_age must be a number of seconds");
}

/** Returns the hinted person. A login_hint that is not a DID is ignored. */
async function readSubject(
  parameters: Parameters,
  client: Client,
  signer: Signer,
): Promise<string | undefined> {
  const token = parameters.get("id_token_hint");
  const text = parameters.get("login_hint");
  const hinted = text !== undefined && /^did:(?:key|web):/.test(text)
    ? text
    : undefined;
  if (token === undefined) return hinted;
  const { sub, aud } = await readHint(signer, token);
  if (aud !== client.client_id) {
    throw invalidRequest("id_token_hint is for another client");
  }
  if (hinted !== undefined && hinted !== sub) {
    throw invalidRequest("login_hint and id_token_hint name different people");
  }
  return sub;
}
