/** The page at `/docs`: one text, which reads `/openapi.json` where it is shown. @module */

import page from "./page.html" with { type: "text" };
import script from "./page.js" with { type: "text" };
import style from "./page.css" with { type: "text" };

/** The page with its style sheet and its script. */
export const PAGE: string = page
  .replace("<style></style>", () => `<style>${style}</style>`)
  .replace(
    '<script type="module"></script>',
    () => `<script type="module">${script}</script>`,
  );

/**
 * The content security policy of the page: style sheet and script by their
 * digests, and requests to the service itself.
 */
export async function createPolicy(): Promise<string> {
  return `default-src 'none'; style-src ${await hashOf(style)}; ` +
    `script-src ${await hashOf(script)}; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

/** As a policy names what stands within a page. */
async function hashOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `'sha256-${new Uint8Array(digest).toBase64()}'`;
}
