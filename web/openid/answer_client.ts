/** Answering an application by way of the browser (RFC 6749 §4.1.2, RFC 9207). @module */

import type { Session } from "../sessions/session.ts";
import type { Client } from "./client.ts";
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
export function errorLocation(
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
 * The address with a code for a session; undefined when that is over by now.
 *
 * @throws {SigError} `store_unavailable`, `rate_limited`.
 */
export async function codeLocation(
  { issuer, sessions, grants }: ProviderContext,
  client: Client,
  session: Session,
  asked: {
    readonly binding: CodeBinding;
    readonly scope: readonly string[];
    readonly state?: string | undefined;
  },
): Promise<string | undefined> {
  const { client_id, require } = client;
  const { sid, subject, auth_time } = session;
  // First of all: from here on its end is told to the application.
  const joined = (await sessions.join(sid, client_id))?.clients[client_id];
  if (joined === undefined) return undefined;
  const { since_ms } = joined;
  const { binding, scope, state } = asked;
  const code = await grants.create({
    ...{ client_id, subject, sid, since_ms, scope, require, auth_time },
    binding,
  });
  return withParameters(binding.redirect_uri, { code, state, iss: issuer });
}
