/**
 * The API for `deno serve` and Deno Deploy, set up by the variables of `sig-api`
 * (`SIG_API_ISSUER` for `--issuer`, lists with commas between). `SIG_TOKEN` is
 * the bearer token; without it everyone is answered. `SIG_ISSUERS`,
 * `SIG_MAX_AGE` and `SIG_PINS` mean the same as `SIG_API_ISSUER`,
 * `SIG_API_MAX_AGE` and `SIG_API_PINS`: use `kv:` on Deno Deploy, so that its
 * instances share what they remember of issuers.
 *
 * ```sh
 * SIG_API_ISSUER=acme.example deno serve --allow-net --allow-env jsr:@sig/api/serve
 * ```
 *
 * @module
 */

import { serveProgram } from "./process/server.ts";
import { apiProgram } from "./program.ts";

/** What `deno serve` calls. */
const server: Deno.ServeDefaultExport = await serveProgram(apiProgram, {
  aliases: {
    SIG_ISSUERS: "issuer",
    SIG_MAX_AGE: "max-age",
    SIG_PINS: "pins",
  },
  defaults: {},
});
export default server;
