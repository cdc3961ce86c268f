/**
 * The API for `deno serve` and Deno Deploy. It is set up by variables:
 * `SIG_ISSUERS` and `SIG_MAX_AGE` mean the flags `--issuer` and `--max-age`
 * (lists are separated by commas), `SIG_TOKEN` is the bearer token; without it
 * everyone is answered. `SIG_PINS` means `--pins`: `kv:` on Deno Deploy, so that
 * its instances share what they remember of issuers, or `redis://…` with
 * `SIG_REDIS_PASSWORD`. Nothing else is read from or written to a disk.
 *
 * ```sh
 * SIG_ISSUERS=acme.example deno serve --allow-net --allow-env=SIG_ISSUERS,SIG_TOKEN,SIG_MAX_AGE jsr:@sig/api/serve
 * ```
 *
 * @module
 */

import { type App, createApp } from "./app.ts";
import { openPinsOf, parseDuration } from "./flags/mod.ts";
import { formatLogEntry } from "./http/mod.ts";
import { readList, readVariable } from "./process/mod.ts";

const app: App = createApp({
  issuers: readList("SIG_ISSUERS"),
  maxAgeMs: parseDuration("SIG_MAX_AGE", readVariable("SIG_MAX_AGE")),
  token: readVariable("SIG_TOKEN"),
  pins: await openPinsOf(readVariable),
  log: (entry) => console.log(formatLogEntry(entry, "json").trimEnd()),
});

/** What `deno serve` calls. */
const server: Deno.ServeDefaultExport = {
  fetch: (request, info) => app.fetch(request, info),
};
export default server;
