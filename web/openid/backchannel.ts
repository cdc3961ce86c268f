/** Telling an application that a session is over (OIDC Back-Channel Logout 1.0). @module */

import type { Told } from "../sessions/outbox.ts";
import type { Farewell } from "../sessions/session.ts";
import type { Clients } from "./client.ts";
import { type Signer, signLogoutToken } from "./jwt.ts";

/** What {@linkcode createBackchannel} works with. */
export interface BackchannelOptions extends Signer {
  /** The applications. */
  readonly clients: () => Clients;
  /** Sends requests. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Milliseconds that an application may take. */
const TIMEOUT_MS = 5_000;

/** Makes what tells one application; it must answer 200 or 204. */
export function createBackchannel(
  options: BackchannelOptions,
): (farewell: Farewell) => Promise<Told> {
  return async ({ client_id, subject, sid }) => {
    const client = options.clients().get(client_id);
    const uri = client?.backchannelLogoutUri;
    if (client === undefined || uri === undefined) return "nobody";
    const token = await signLogoutToken(options, client, { subject, sid });
    try {
      const response = await options.fetch(
        new Request(uri, {
          method: "POST",
          body: new URLSearchParams({ logout_token: token }),
          // The operator named this address, and no other.
          redirect: "manual",
          signal: AbortSignal.timeout(TIMEOUT_MS),
        }),
      );
      await response.body?.cancel();
      const { status } = response;
      if (status === 200 || status === 204) return "heard";
      if (status >= 400 && status < 500) return "refused";
    } catch {
      // Down, slow or unknown: it is told later.
    }
    return "later";
  };
}
