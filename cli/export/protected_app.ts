/** An application that a reverse proxy protects with forward auth. @module */

import { usageError } from "@sig/api/flags";
import { quote } from "@sig/core/internal";
import type { TemplateValues } from "./fill_template.ts";
import { SCHEME_PORTS } from "./hosted_site.ts";

/** The values of a proxy's configuration. */
interface ProtectedApp extends TemplateValues {
  /** The login's origin. */
  readonly login: string;
  /** Its host, with the port unless that is the scheme's own. */
  readonly loginHost: string;
  /** The application's origin, whose scheme is the login's. */
  readonly origin: string;
  /** Its host, likewise. */
  readonly host: string;
  /** The host's name alone. */
  readonly hostname: string;
  /** The port that the proxy listens at. */
  readonly port: number;
  /** The scheme of both. */
  readonly scheme: "http" | "https";
  /** The name of its zone of nginx, which other hosts must not have. */
  readonly zone: string;
  /** Where the application itself listens: `http://host:port`. */
  readonly upstream: string;
}

const HOSTNAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)$/;

/**
 * Reads `--login`, `--app` and `--upstream`.
 *
 * @throws {SigError} `invalid_request` with `context.flag`.
 */
export function readProtectedApp(
  login: string | undefined,
  app: string | undefined,
  upstream = "http://127.0.0.1:3000",
): ProtectedApp {
  const at = readOrigin("--login", login, "https://login.acme.example");
  const scheme = at.protocol === "https:" ? "https" : "http";
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
    ...{ origin, host, hostname, scheme },
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
