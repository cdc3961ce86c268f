/** A configuration of Caddy. @module */

import {
  PREFLIGHT_HEADERS,
  SITE_HEADERS,
  SITE_METHODS,
} from "../site/site_headers.ts";
import { type HostedSite, quoted } from "./hosted_site.ts";
import type { HostingOptions } from "./hosting_options.ts";

/**
 * The site block of an issuer's host, for a Caddyfile. Caddy gets the
 * certificate itself and redirects http, unless files are named.
 *
 * @throws {SigError} `invalid_request` as {@linkcode quoted}.
 */
export function caddyConfiguration(
  { documents, hostname, issuer, port, scheme }: HostedSite,
  { certificate, root }: HostingOptions,
): string {
  const headers = Object.entries({ ...SITE_HEADERS, ...PREFLIGHT_HEADERS })
    .map(([name, value]) => `\t\t\t${name} "${value}"`);
  const types = documents.map(([path, type]) =>
    `\t\theader ${path} content-type ${type}`
  );
  const place = scheme === "https" ? tlsLine(certificate) : bindLine(hostname);
  return `# The documents of ${issuer}, for Caddy: import it into the Caddyfile.
# A host that has a site block already takes @sig and its handle alone, and
# "encode" must leave these paths out: readers refuse compressed documents.
# Caddy follows symbolic links: let nobody else write into the directory.
${scheme}://${hostname}:${port} {
${place}	@sig path ${documents.map(([path]) => path).join(" ")}
	handle @sig {
		header {
${headers.join("\n")}
		}
${types.join("\n")}
		@preflight method OPTIONS
		respond @preflight 204
		@other not method ${SITE_METHODS.replaceAll(",", "")}
		header @other allow "${SITE_METHODS}"
		respond @other 405
		root * ${quoted("the directory", root)}
		file_server
	}
	handle {
		respond 404
	}
}
`;
}

/** Without TLS only tests make sense: they stay on this machine. */
export function bindLine(hostname: string): string {
  const address = hostname === "localhost"
    ? "127.0.0.1 ::1"
    : hostname.replace(/^\[|\]$/g, "");
  return `\tbind ${address}\n`;
}

/** The certificate of a host; none: Caddy gets one itself. */
export function tlsLine(certificate: HostingOptions["certificate"]): string {
  if (certificate === undefined) return "";
  const { file, keyFile } = certificate;
  return `\ttls ${quoted("the certificate", file)} ${
    quoted("the certificate's key", keyFile)
  }\n`;
}
