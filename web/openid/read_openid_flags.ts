/** Whether a server is an OpenID Provider, by its flags (docs/openid.md). @module */

import { type GivenFlags, usageError } from "@sig/api/flags";
import type { ServerIo } from "@sig/api/server";
import type { OpenIdProgram } from "./start_openid.ts";

/**
 * Reads the provider's flags, and loads it where there is one: undefined
 * elsewhere.
 *
 * @throws {SigError} `invalid_request` for flags that need others, and as
 * `startOpenId`.
 */
export async function readOpenIdFlags(
  flags: GivenFlags,
  io: ServerIo,
  log: "json" | "text" | "off",
): Promise<OpenIdProgram | undefined> {
  if (isProviderAsked(flags) || flags.on("demo")) {
    const { startOpenId } = await import("./start_openid.ts");
    return await startOpenId(flags, io, log);
  }
  for (
    const flag of [
      ...["oidc-keys", "names", "session", "recheck", "grace"],
    ]
  ) {
    if (flags.text(flag) === undefined) continue;
    throw usageError(`--${flag} goes with --oidc-clients or --gate-host`, {
      flag: `--${flag}`,
    });
  }
  return undefined;
}

/** Whether applications of the operator log people in here. */
export function isProviderAsked(flags: GivenFlags): boolean {
  return flags.texts("gate-host").length > 0 ||
    flags.text("oidc-clients") !== undefined;
}
