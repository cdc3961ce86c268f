/** Answering an application by way of the browser (RFC 6749 §4.1.2, RFC 9207). @module */

import type { Session } from "../sessions/session.ts";
import type { Client } from "./clients.ts";
import type { CodeBinding } from "./grants.ts";
import type { OAuthError } from "./oauth_error.ts";
import { withParameters } from "./pages.ts";
import type { ProviderContext } from "./provider_context.ts";

/** What is answered to. */
export interface Pending {
  /** Where the answer goes. */
  readonly redirect_uri: string;
  /** What it must repeat. */
  readonly state?: string | undefined;
}

/** The address with an error; it names us, as every answer does. */
export function errorRedirect(
  { issuer }: Pick<ProviderContext, "issuer">,
  { redirect_uri, state }: Pending,
  { code, message }: OAuthError,
): string {
  return withParameters(redirect_uri, {
    error: code,
    error_description: message,
    state,
    iss: issuer,
  });
}

/**
 * The address with a code for a session that the application has joined with
 * `grant`: from then on its end is told to the application.
 *
 * @throws {SigError} `store_unavailable`, `rate_limited`.
 */
export async function codeRedirect(
  { issuer, grants }: Pick<ProviderContext, "issuer" | "grants">,
  { client_id, require }: Client,
  { sid, subject, auth_time, clients }: Session,
  asked: {
    readonly grant: string;
    readonly binding: CodeBinding;
    readonly scope: readonly string[];
    readonly state?: string | undefined;
  },
): Promise<string> {
  const joined = clients[client_id];
  if (joined === undefined) {
    throw new TypeError("Cannot make a code: the application has not joined");
  }
  const { since_ms } = joined;
  const { grant, binding, scope, state } = asked;
  const code = await grants.create(grant, {
    ...{ client_id, subject, sid, since_ms, scope, require, auth_time },
    binding,
  });
  return withParameters(binding.redirect_uri, { code, state, iss: issuer });
}
