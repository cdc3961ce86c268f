/** The session that a grant stands and falls with. @module */

import type { Session } from "../sessions/session.ts";
import type { Grant } from "./grants.ts";
import type { ProviderContext } from "./provider_context.ts";

/**
 * The session of a grant, if it goes on with this application in it; what was
 * given before the application was taken out and came back does not count. No
 * clocks are compared: those of two replicas differ.
 */
export async function sessionOf(
  { sid, client_id, since_ms }: Grant,
  { sessions }: Pick<ProviderContext, "sessions">,
): Promise<Session | undefined> {
  const session = await sessions.get(sid);
  const joined = session?.clients[client_id];
  return joined?.since_ms === since_ms ? session : undefined;
}
