/** nginx in front of an application, asking the login. @module */

import {
  FORGEABLE_HEADERS,
  type GateSite,
  IDENTITY_HEADERS,
} from "./gate_site.ts";
import type { HostingOptions } from "./hosting_options.ts";
import { indent, listenLines, tlsLines } from "./nginx.ts";

/** The `server` block of an application's host. */
export function gateNginxConfiguration(
  site: GateSite,
  certificate?: HostingOptions["certificate"],
): string {
  const { host, hostname, login, origin, scheme, upstream } = site;
  const variables = IDENTITY_HEADERS.map((name) => [
    name,
    `$sig_${name.toLowerCase().replaceAll("-", "_")}`,
  ]);
  const forged = FORGEABLE_HEADERS.filter((name) =>
    !IDENTITY_HEADERS.includes(name)
  );
  return `# ${host} behind the login of ${login}, for nginx: include it in the http block.
# The login knows it by: sig web … --gate-host ${host}
server {
${indent(listenLines(site))}
  server_name ${hostname};
${scheme === "https" ? `${indent(tlsLines(hostname, certificate))}\n` : ""}
  # Asks the login who it is; nobody else can.
  location = /_sig/forward-auth {
    internal;
${indent(indent(toLogin(site)))}
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
    proxy_pass ${login}/forward-auth;
  }

  # Where the login returns to, to set this host's cookie.
  location /_sig/ {
${indent(indent(toLogin(site)))}
    # It leads to the login itself, too.
    proxy_redirect off;
    proxy_pass ${login};
  }

  location @sig_login {
    # Encoded it can't be here: the login takes rd, the last one, as it is.
    return 302 ${login}/gate/login?rd=${origin}$request_uri;
  }

  # Everything of the application; a further location needs the same lines.
  location / {
    auth_request /_sig/forward-auth;
    error_page 401 = @sig_login;
${
    variables.map(([name, variable]) =>
      `    auth_request_set ${variable} $upstream_http_${
        name?.toLowerCase().replaceAll("-", "_")
      };`
    ).join("\n")
  }
    # Who it is says the login alone: what a browser sent under these names goes.
${
    variables.map(([name, variable]) =>
      `    proxy_set_header ${name} ${variable};`
    ).join("\n")
  }
${forged.map((name) => `    proxy_set_header ${name} "";`).join("\n")}
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host ${host};
    proxy_set_header X-Forwarded-Proto ${scheme};
    proxy_pass ${upstream};
  }
}
`;
}

/** The name of this host is said here, never taken from a request. */
function toLogin({ host, login, loginHost, scheme }: GateSite): string {
  const lines = [
    `proxy_set_header Host ${loginHost};`,
    `proxy_set_header X-Forwarded-Host ${host};`,
    "proxy_set_header X-Forwarded-For $remote_addr;",
    `proxy_set_header X-Forwarded-Proto ${scheme};`,
  ];
  if (!login.startsWith("https:")) return lines.join("\n");
  return [
    ...lines,
    "# An answer of somebody else would let anybody in.",
    "proxy_ssl_server_name on;",
    "proxy_ssl_verify on;",
    "proxy_ssl_verify_depth 3;",
    "proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;",
  ].join("\n");
}
