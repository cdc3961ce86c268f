/** What the routes of the provider share. @module */

import type { Records } from "@sig/consumer/store";
import type { HostCookie } from "../sessions/cookies.ts";
import type { Recheck } from "../sessions/recheck.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Naming } from "./claims.ts";
import type { Clients } from "./clients.ts";
import type { Grants } from "./grants.ts";
import type { ProviderKeys } from "./keys.ts";

/** What the routes of the provider share. */
export interface ProviderContext extends Naming, Recheck {
  /** The issuer identifier: an origin, never taken from a request. */
  readonly issuer: string;
  /** The applications, as the file says now. */
  readonly clients: () => Clients;
  /** The provider's keys. */
  readonly keys: ProviderKeys;
  /** Who is logged in. */
  readonly sessions: Sessions;
  /** What applications were given. */
  readonly grants: Grants;
  /** Ids of assertions that applications have used. */
  readonly assertions: Records<true>;
  /** Names the session. */
  readonly sessionCookie: HostCookie;
  /** Names the browser while somebody logs in. */
  readonly browserCookie: HostCookie;
  /** The clock. */
  readonly now: () => Date;
}
