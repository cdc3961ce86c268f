/** A configuration of nginx. @module */

import { PREFLIGHT_HEADERS, SITE_HEADERS } from "../site/site_headers.ts";
import { type HostedSite, quoted, SCHEME_PORTS } from "./hosted_site.ts";
import type { HostingOptions } from "./hosting_options.ts";

/**
 * The `server` blocks of an issuer's host. Each document is a location of its
 * own with all that it needs, so that they can be copied into a block that is
 * there; nginx passes no `add_header` on to a location that has one itself.
 *
 * @throws {SigError} `invalid_request` as {@linkcode quoted}.
 */
export function nginxConfiguration(
  site: HostedSite,
  { certificate, root }: HostingOptions,
): string {
  const { hostname, issuer, scheme } = site;
  const folder = quoted("the directory", root);
  const locations = site.documents.map(([path, type]) =>
    documentLocation(path, type, folder)
  );
  const blocks = [
    `# The documents of ${issuer}, for nginx: include it in the http block.
# A host that has a server block already takes the documents' locations alone.
# Readers refuse compressed bytes, and ask for the end of those that they have.
# Symbolic links in the directory are not followed: to a private key, for example.`,
    ...(scheme === "https" && site.port === SCHEME_PORTS.https
      ? [redirectBlock(hostname)]
      : []),
    `server {
${indent(listenLines(site))}
  server_name ${hostname};
${scheme === "https" ? `${indent(tlsLines(hostname, certificate))}\n` : ""}
${locations.map(indent).join("\n\n")}

  location / {
    return 404;
  }
}`,
  ];
  return `${blocks.join("\n\n")}\n`;
}

function documentLocation(path: string, type: string, folder: string): string {
  const headers = Object.entries({ ...SITE_HEADERS, ...PREFLIGHT_HEADERS });
  return `location = ${path} {
  root ${folder};
  disable_symlinks on from=$document_root;
  types {}
  default_type ${type};
  charset off;
  etag on;
  gzip off;
  max_ranges 1;
${
    headers.map(([name, value]) => `  add_header ${name} "${value}" always;`)
      .join("\n")
  }
  if ($request_method = OPTIONS) {
    return 204;
  }
}`;
}

/** Where a host listens. */
export function listenLines(
  { hostname, port, scheme }: Pick<HostedSite, "hostname" | "port" | "scheme">,
): string {
  if (scheme === "https") {
    return `listen ${port} ssl;\nlisten [::]:${port} ssl;`;
  }
  // Without TLS only tests make sense: they stay on this machine.
  if (hostname === "localhost") {
    return `listen 127.0.0.1:${port};\nlisten [::1]:${port};`;
  }
  return `listen ${hostname}:${port};`;
}

/** The certificate of a host. */
export function tlsLines(
  hostname: string,
  certificate: HostingOptions["certificate"],
): string {
  const folder = `/etc/letsencrypt/live/${hostname}`;
  const { file, keyFile } = certificate ?? {
    file: `${folder}/fullchain.pem`,
    keyFile: `${folder}/privkey.pem`,
  };
  return `# With the authorities between: readers fetch none.
ssl_certificate ${quoted("the certificate", file)};
ssl_certificate_key ${quoted("the certificate's key", keyFile)};
ssl_protocols TLSv1.2 TLSv1.3;
# When nothing on this host needs http any more:
# add_header Strict-Transport-Security "max-age=63072000" always;`;
}

function redirectBlock(hostname: string): string {
  return `server {
  listen 80;
  listen [::]:80;
  server_name ${hostname};

  # certbot certonly --webroot -w /var/www/html -d ${hostname}
  location /.well-known/acme-challenge/ {
    root /var/www/html;
  }
  location / {
    return 301 https://${hostname}$request_uri;
  }
}`;
}

/** Each line two spaces further in. */
export function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
