/** Caddy in front of an application, asking the login. @module */

import {
  FORGEABLE_HEADERS,
  type GateSite,
  IDENTITY_HEADERS,
} from "./gate_site.ts";
import { bindLine, tlsLine } from "./caddy.ts";
import type { HostingOptions } from "./hosting_options.ts";

/** The site block of an application's host, for a Caddyfile. */
export function gateCaddyConfiguration(
  { host, hostname, login, loginHost, port, scheme, upstream }: GateSite,
  certificate?: HostingOptions["certificate"],
): string {
  const place = scheme === "https" ? tlsLine(certificate) : bindLine(hostname);
  return `# ${host} behind the login of ${login}, for Caddy: import it into the Caddyfile.
# The login knows it by: sig web … --gate-host ${host}
${scheme}://${hostname}:${port} {
${place}	# In this order: the login's headers come after those of the browser went.
	route {
${FORGEABLE_HEADERS.map((name) => `\t\trequest_header -${name}`).join("\n")}
		handle /_sig/* {
			reverse_proxy ${login} {
				header_up Host ${loginHost}
				header_up X-Forwarded-Host ${host}
			}
		}
		forward_auth ${login} {
			uri /forward-auth?redirect
			header_up Host ${loginHost}
			header_up X-Forwarded-Host ${host}
			copy_headers ${IDENTITY_HEADERS.join(" ")}
		}
		reverse_proxy ${upstream}
	}
}
`;
}
