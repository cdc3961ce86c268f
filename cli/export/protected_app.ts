/** An application that a reverse proxy protects with forward auth. @module */

import { usageError } from "@sig/api/program";
import { quote } from "@sig/core/internal";
import { type Scheme, SCHEME_PORTS } from "./hosted_site.ts";

const HOSTNAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)$/;

/**
 * Parses `--login`, `--app` and `--upstream` to the values of a proxy's
 * configuration. Hosts include the port unless it is the scheme's default. The
 * application has the scheme of the login.
 *
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function readProtectedApp(
  login: string | undefined,
  app: string | undefined,
  upstream = "http://127.0.0.1:3000",
) {
  const at = readOrigin("--login", login, "https://login.acme.example");
  const scheme: Scheme = at.protocol === "https:" ? "https" : "http";
  if (app === undefined) {
    throw usageError("--app is required", { flag: "--app" });
  }
  const url = /[/?#@\\\s]/.test(app) ? null : URL.parse(`${scheme}://${app}`);
  if (url === null || !HOSTNAME.test(url.hostname)) {
    throw usageError(`--app ${quote(app)} must be a host`, {
      flag: "--app",
      hint: "For example: wiki.acme.example.",
    });
  }
  const { host, hostname, origin, port } = url;
  return {
    login: at.origin,
    loginHost: at.host,
    origin,
    host,
    hostname,
    scheme,
    // Name of a zone of nginx, unique for the host.
    zone: `sig_${host.replaceAll(/[^a-z0-9]/g, "_")}`,
    port: port === "" ? SCHEME_PORTS[scheme] : Number(port),
    upstream:
      readOrigin("--upstream", upstream, "http://127.0.0.1:3000").origin,
  };
}

function readOrigin(
  flag: string,
  text: string | undefined,
  example: string,
): URL {
  const url = text === undefined ? null : URL.parse(text);
  if (
    url !== null && (text === url.origin || text === `${url.origin}/`) &&
    /^https?:$/.test(url.protocol) && HOSTNAME.test(url.hostname)
  ) return url;
  throw usageError(
    text === undefined
      ? `${flag} is required`
      : `${flag} ${quote(text)} must be an address without a path`,
    { flag, hint: `For example: ${example}.` },
  );
}
