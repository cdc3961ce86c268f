/** The state that the routes of the provider share. @module */

import type { Records } from "@sig/consumer/store";
import type { SignInContext } from "../sign_in/context.ts";
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
  /** Returns the ids of the assertions that an application has used. */
  readonly assertionsOf: (clientId: string) => Records<true>;
}
