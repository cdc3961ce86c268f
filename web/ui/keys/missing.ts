/** Why a browser can't hold keys. @module */

import type { Missing } from "../libraries/login.ts";

/** In a sentence for people. */
export const MISSING: Readonly<Record<Missing, string>> = {
  insecure:
    "Browsers hold keys for pages on https or on this machine only, and this page is neither.",
  ed25519: "This browser can't sign with Ed25519 yet. A newer version can.",
  storage:
    "This browser does not let the page keep anything, as in some private windows.",
};
