/** What the cards of a login are given. @module */

import type { ComponentChildren } from "preact";
import type { Site } from "../site/site.ts";
import type { LoginFlow } from "./use_login.ts";

/** Of every card. */
export interface SignInCardProps {
  readonly site: Site;
  readonly flow: LoginFlow;
  /** What comes next, where something else knows: the demo. */
  readonly next?: ComponentChildren;
  /** Whether the request takes the focus when it appears. */
  readonly takesFocus?: boolean;
}
