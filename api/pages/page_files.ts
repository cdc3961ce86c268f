/**
 * The style sheet and the script of `/docs`, which stand within the page, and
 * the policy that allows these two and nothing else.
 *
 * @module
 */

import base from "./base.css" with { type: "text" };
import script from "./docs_page.js" with { type: "text" };
import style from "./docs_page.css" with { type: "text" };

/** The page's only style sheet. */
export const STYLE: string = base + style;
/** The page's only script. */
export const SCRIPT: string = script;

/**
 * The content security policy of the page: both files by their digests, and
 * requests to the service itself, for trying it.
 */
export async function createPolicy(): Promise<string> {
  return `default-src 'none'; style-src ${await hashOf(STYLE)}; ` +
    `script-src ${await hashOf(SCRIPT)}; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

/** As a policy names what stands within a page. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(text),
  );
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}
