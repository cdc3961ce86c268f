/** The state that the routes of the provider share. @module */

import type { SignInContext } from "../sign_in/interaction.ts";
import type { Naming } from "../sign_in/person.ts";
import type { Clients } from "./clients.ts";
import type { Grants } from "./grants.ts";
import type { ProviderKeys } from "./keys.ts";

/** The state that the routes of the provider share. */
export interface ProviderContext extends SignInContext, Naming {
  /** Returns the current applications, without hosts. */
  readonly clients: () => Clients;
  readonly keys: ProviderKeys;
  readonly grants: Grants;
  /** Delivers logout tokens now; those that fail are delivered later. */
  readonly notifyNow: () => void;
}
