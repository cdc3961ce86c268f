/** A `_headers` file, which static hosts read. @module */

import { SITE_HEADERS } from "../site/site_headers.ts";
import type { HostedSite } from "./hosted_site.ts";

/**
 * The `_headers` file of Netlify, Cloudflare Pages and hosts like them. It
 * stands at the top of what is published; the hosts speak TLS, tell entity
 * tags and answer ranges by themselves. They answer no preflight.
 */
export function staticHeaders({ documents, issuer }: HostedSite): string {
  const rules = documents.map(([path, type]) =>
    [
      path,
      ...Object.entries({ "content-type": type, ...SITE_HEADERS })
        .map(([name, value]) => `  ${name}: ${value}`),
    ].join("\n")
  );
  return `# The documents of ${issuer}: this is the file _headers of the published
# folder, beside .well-known. Publish nothing else of the issuer's directory,
# and never its .sig.
${rules.join("\n")}
`;
}
