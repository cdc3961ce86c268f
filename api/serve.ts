/**
 * The API for `deno serve` and Deno Deploy, configured by the variables of
 * `sig-api` (`SIG_API_ISSUER` for `--issuer`; commas separate the items of a
 * list). `SIG_TOKEN` is the bearer token; without it, every client is answered.
 * `SIG_ISSUERS`, `SIG_MAX_AGE` and `SIG_PINS` are aliases of `SIG_API_ISSUER`,
 * `SIG_API_MAX_AGE` and `SIG_API_PINS`. On Deno Deploy use `kv:` for the pins,
 * so that the instances share them.
 *
 * ```sh
 * SIG_API_ISSUER=acme.example deno serve --allow-net --allow-env jsr:@sig/api/serve
 * ```
 *
 * @module
 */

import { serveProgram } from "./program/mod.ts";
import { apiProgram } from "./sig_api.ts";

/** The handler that `deno serve` calls. */
const server: Deno.ServeDefaultExport = await serveProgram(apiProgram, {
  aliases: {
    SIG_ISSUERS: "issuer",
    SIG_MAX_AGE: "max-age",
    SIG_PINS: "pins",
  },
  defaults: {},
});
export default server;
