/** The error of a command that is told no issuer's directory. @module */

import { usageError } from "@sig/api/flags";
import type { SigError } from "@sig/core";

/** Makes it. */
export function dirRequired(): SigError {
  return usageError("--dir is required", {
    flag: "--dir",
    hint: "For example: --dir ./acme.example.",
  });
}
