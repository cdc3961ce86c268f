/**
 * An issuer's directory as a web site: for servers of your own, `deno serve`
 * and Deno Deploy. What `sig serve` runs, and what `sig export deno-deploy`
 * prints a program of.
 *
 * @example A program for `deno serve --allow-read`
 * ```ts ignore
 * import { createIssuerSite } from "jsr:@sig/cli/site";
 *
 * const site = createIssuerSite(`${import.meta.dirname}/acme.example`);
 * export default {
 *   fetch: (request) => site(request),
 * } satisfies Deno.ServeDefaultExport;
 * ```
 *
 * @module
 */
export { createIssuerSite, type IssuerSiteOptions } from "./issuer_site.ts";
