/**
 * The login for `deno serve` and Deno Deploy. It is set up by variables, which
 * mean the flags of the same name (lists are separated by commas):
 * `SIG_AUDIENCES` (required), `SIG_ISSUERS`, `SIG_REQUIRE`, `SIG_MAX_AGE`.
 * `SIG_PINS` means `--pins` (`kv:` on Deno Deploy; the
 * password of a Redis comes from `SIG_REDIS_PASSWORD`). Challenges are kept in the platform's Deno KV where there is one
 * (`--unstable-kv`), else in memory, which is right for one process only.
 * Nothing is read from or written to a disk.
 *
 * ```sh
 * SIG_AUDIENCES=https://login.acme.example deno serve --unstable-kv --allow-net --allow-env jsr:@sig/web/serve
 * ```
 *
 * @module
 */

import { openStore } from "@sig/consumer/store";
import { openPinsOf, parseDuration } from "@sig/api/flags";
import { type App, formatLogEntry } from "@sig/api/http";
import { readList, readVariable } from "@sig/api/process";
import { SigError } from "@sig/core";
import { createApp } from "./app.ts";

const audiences = readList("SIG_AUDIENCES");
if (audiences.length === 0) {
  throw new SigError(
    "invalid_request",
    "Cannot start: SIG_AUDIENCES must name the origin that people see",
    { context: { hint: "For example: https://login.acme.example." } },
  );
}
const require = readList("SIG_REQUIRE");
const app: App = createApp({
  audiences,
  issuers: readList("SIG_ISSUERS"),
  require: require.length > 0 ? require : undefined,
  maxAgeMs: parseDuration("SIG_MAX_AGE", readVariable("SIG_MAX_AGE")),
  pins: await openPinsOf(readVariable),
  store: await openStore("openKv" in Deno ? "kv:" : "memory"),
  log: (entry) => console.log(formatLogEntry(entry, "json").trimEnd()),
});

/** What `deno serve` calls. */
const server: Deno.ServeDefaultExport = {
  fetch: (request, info) => app.fetch(request, info),
};
export default server;
