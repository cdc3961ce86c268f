/** Traefik in front of an application, asking the login. @module */

import {
  FORGEABLE_HEADERS,
  type GateSite,
  IDENTITY_HEADERS,
} from "./gate_site.ts";

/** A file of Traefik's file provider. */
export function gateTraefikConfiguration(
  { host, hostname, login, scheme, upstream }: GateSite,
): string {
  const rule = `Host(\`${hostname}\`)`;
  const place = scheme === "https"
    ? "      entryPoints: [websecure]\n      tls: {}"
    : "      entryPoints: [web]";
  return `# ${host} behind the login of ${login}, for the file provider of Traefik.
# The login knows it by: sig web … --gate-host ${host}
http:
  routers:
    sig-app:
      rule: "${rule}"
${place}
      middlewares: [sig-strip, sig-login]
      service: sig-app
    # Where the login returns to, to set this host's cookie.
    sig-return:
      rule: "${rule} && PathPrefix(\`/_sig/\`)"
${place}
      service: sig-login
  middlewares:
    # Who it is says the login alone: what a browser sent under these names goes.
    sig-strip:
      headers:
        customRequestHeaders:
${FORGEABLE_HEADERS.map((name) => `          ${name}: ""`).join("\n")}
    sig-login:
      forwardAuth:
        address: "${login}/forward-auth?redirect"
        trustForwardHeader: false
        authResponseHeaders: [${IDENTITY_HEADERS.join(", ")}]
  services:
    sig-app:
      loadBalancer:
        servers:
          - url: "${upstream}"
    sig-login:
      loadBalancer:
        # It is told of this host by X-Forwarded-Host.
        passHostHeader: false
        servers:
          - url: "${login}"
`;
}
