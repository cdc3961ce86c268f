/**
 * The login for `deno serve` and Deno Deploy, configured by the environment
 * variables of `sig-web` (`SIG_WEB_REQUIRE` for `--require`; lists are
 * separated by commas). `SIG_WEB_AUDIENCE` is required. `SIG_AUDIENCES`,
 * `SIG_ISSUERS`, `SIG_REQUIRE`, `SIG_MAX_AGE` and `SIG_PINS` are aliases of
 * five of them. Challenges are kept in Deno KV where the platform has it
 * (`--unstable-kv`), else in memory, which only works for a single process.
 *
 * ```sh
 * SIG_WEB_AUDIENCE=https://login.acme.example deno serve --unstable-kv
 * --allow-net --allow-env jsr:@sig/web/serve
 * ```
 *
 * @module
 */

import { serveProgram } from "@sig/api/program";
import { webProgram } from "./sig_web.ts";

/** The server that `deno serve` runs. */
const server: Deno.ServeDefaultExport = await serveProgram(webProgram, {
  aliases: {
    SIG_AUDIENCES: "audience",
    SIG_ISSUERS: "issuer",
    SIG_REQUIRE: "require",
    SIG_MAX_AGE: "max-age",
    SIG_PINS: "pins",
  },
  defaults: { store: "openKv" in Deno ? "kv:" : "memory" },
});
export default server;
