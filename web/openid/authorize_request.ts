/** Reads authorization requests (OIDC Core §3.1.2.1). @module */

import { isSecret } from "../login/digest.ts";
import { RESPONSE_MODES } from "./answer_client.ts";
import { SCOPES } from "./claims.ts";
import type { Client } from "./clients.ts";
import { readHint, type Signer } from "./jwt.ts";
import { invalidRequest, OAuthError } from "../sign_in/oauth_error.ts";
import { type Parameters, readParameters } from "../sign_in/parameters.ts";

/** A valid authorization request. */
export interface AuthorizeRequest {
  /** The requested scopes that are supported. */
  readonly scope: readonly string[];
  /** The S256 challenge of PKCE; undefined without PKCE. */
  readonly code_challenge: string | undefined;
  /** The nonce to repeat in the ID token. */
  readonly nonce: string | undefined;
  /** Whether no page may be shown (prompt=none). */
  readonly isSilent: boolean;
  /** Whether the person must sign even with a session. */
  readonly mustSign: boolean;
  /** Maximum number of seconds since the person signed. */
  readonly maxAge: number | undefined;
  /** The DID of the only person who may log in. */
  readonly subject: string | undefined;
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
export const SEE_LIBRARIES = "see docs/openid.md, Libraries";

/**
 * Reads a request after its client and redirect_uri have been validated.
 *
 * @throws {OAuthError} to send to the application.
 */
export async function readAuthorizeRequest(
  given: URLSearchParams,
  client: Client,
  signer: Signer,
): Promise<AuthorizeRequest> {
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
    isSilent: prompt.has("none"),
    // A max_age of 0 is the same as prompt=login (OIDC Core §3.1.2.1).
    mustSign: maxAge === 0 || (prompt.size > 0 && !prompt.has("none")),
    maxAge,
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
