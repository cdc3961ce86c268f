/** The state that the routes of the provider share. @module */

import type { AskIssuer } from "../login/relationship.ts";
import type { LoginHost } from "../sign_in/host.ts";
import type { SignInContext } from "../sign_in/interaction.ts";
import type { Naming } from "../sign_in/person.ts";
import type { Clients } from "./clients.ts";
import type { Grants } from "./grants.ts";
import type { ProviderKeys } from "./keys.ts";

/** The state that the routes of the provider share. */
export interface ProviderContext
  extends SignInContext, Naming, Pick<LoginHost, "challenges" | "logins"> {
  /** Queries the issuer about a subject. */
  readonly ask: AskIssuer;
  /** The requirements of the server. */
  readonly require: readonly string[];
  /** Lifetime of a session in milliseconds, for its cookie. */
  readonly sessionMs: number;
  /** Returns the current applications, without hosts. */
  readonly clients: () => Clients;
  readonly keys: ProviderKeys;
  readonly grants: Grants;
  /** Delivers logout tokens now; those that fail are delivered later. */
  readonly notifyNow: () => void;
}
