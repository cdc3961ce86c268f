/**
 * The login and the verification API in one project for Deno Deploy, or for
 * `deno serve`. Both are configured by environment variables: `SIG_WEB_AUDIENCE`, `SIG_ISSUERS`
 * for both, `SIG_WEB_REQUIRE`, `SIG_TOKEN`.
 *
 * @module
 */

import api from "@sig/api/serve";
import login from "@sig/web/serve";

const API = /^\/(v1\/(check|verify|dump-state)|access\/|openapi\.json|docs)/;
const AUTHZEN = "/.well-known/authzen-configuration";

const server: Deno.ServeDefaultExport = {
  fetch(request, info) {
    // A malformed host can't be parsed; either server then reports it.
    const pathname = URL.parse(request.url)?.pathname ?? "/";
    const isApi = API.test(pathname) || pathname === AUTHZEN;
    return (isApi ? api : login).fetch(request, info);
  },
};
export default server;
