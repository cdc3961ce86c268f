/** A program for Deno Deploy. @module */

import { VERSION } from "../terminal/version.ts";
import type { HostedSite } from "./hosted_site.ts";
import type { HostingOptions } from "./hosting_options.ts";

/**
 * A program that serves the directory which lies beside it, on Deno Deploy and
 * by `deno serve`: the very site of `sig serve`.
 */
export function denoDeployProgram(
  { issuer }: HostedSite,
  { root }: HostingOptions,
): string {
  return `// The documents of ${issuer}, for Deno Deploy or
// deno serve --allow-read main.ts
import { createIssuerSite } from "jsr:@sig/cli@^${VERSION}/site";

const site = createIssuerSite(
  import.meta.dirname + ${JSON.stringify(`/${root}`)},
  // Every copy of a deployment answers with the same entity tags.
  { portableTags: true },
);

export default {
  fetch: (request) => site(request),
} satisfies Deno.ServeDefaultExport;
`;
}
