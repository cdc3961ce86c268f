/**
 * The login for `deno serve` and Deno Deploy, set up by the variables of
 * `sig-web` (`SIG_WEB_REQUIRE` for `--require`, lists with commas between).
 * `SIG_WEB_AUDIENCE` is required. `SIG_AUDIENCES`, `SIG_ISSUERS`, `SIG_REQUIRE`,
 * `SIG_MAX_AGE` and `SIG_PINS` are other names of five of them. Challenges are
 * kept in the platform's Deno KV where there is one (`--unstable-kv`), else in
 * memory, which is right for one process only.
 *
 * ```sh
 * SIG_WEB_AUDIENCE=https://login.acme.example deno serve --unstable-kv --allow-net --allow-env jsr:@sig/web/serve
 * ```
 *
 * @module
 */

import { serveProgram } from "@sig/api/server";
import { webProgram } from "./program.ts";

/** What `deno serve` calls. */
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
