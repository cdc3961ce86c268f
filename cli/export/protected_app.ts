/** An application that a reverse proxy protects with forward auth. @module */

import { usageError } from "@sig/api/program";
import { quote } from "@sig/core/internal";
import { HOSTNAME, originOf } from "./hosted_site.ts";

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
  if (app === undefined) {
    throw usageError("--app is required", { flag: "--app" });
  }
  const url = /[/?#@\\\s]/.test(app)
    ? null
    : URL.parse(`${at.protocol}//${app}`);
  if (url === null || !HOSTNAME.test(url.hostname)) {
    throw usageError(`--app ${quote(app)} must be a host`, {
      flag: "--app",
      hint: "For example: wiki.acme.example.",
    });
  }
  const { host, origin } = url;
  return {
    ...originOf(url),
    login: at.origin,
    loginHost: at.host,
    origin,
    host,
    // Name of a zone of nginx, unique for the host.
    zone: `sig_${host.replaceAll(/[^a-z0-9]/g, "_")}`,
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
