/** The state that the routes of the provider share. @module */

import type { Records } from "@sig/consumer/store";
import type { HostCookie } from "../sessions/cookies.ts";
import type { Recheck } from "../sessions/recheck.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Naming } from "./claims.ts";
import type { Clients } from "./clients.ts";
import type { Grants } from "./grants.ts";
import type { ProviderKeys } from "./keys.ts";

/** The state that the routes of the provider share. */
export interface ProviderContext extends Naming, Recheck {
  /** The issuer identifier: an origin, never taken from a request. */
  readonly issuer: string;
  /** Returns the current applications. */
  readonly clients: () => Clients;
  readonly keys: ProviderKeys;
  readonly sessions: Sessions;
  readonly grants: Grants;
  /** The ids of used assertions. */
  readonly assertions: Records<true>;
  readonly sessionCookie: HostCookie;
  /** The cookie that identifies the browser during a login. */
  readonly browserCookie: HostCookie;
  readonly now: () => Date;
}
