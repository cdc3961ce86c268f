/** The embedded page: its HTML, style and script. @module */

import { PackedText, PAGE_HEADERS } from "@sig/api/internal/http";
import type { Env, Hono } from "hono";
import type { PageConfig } from "../ui/page_config.ts";
import { ICON, PAGE, SCRIPT, STYLE } from "./assets.ts";

/** The login endpoints of this server. */
export const LOGIN_ROUTES: PageConfig["signIn"] = {
  challengeUrl: "/v1/auth/challenge/create",
  answerUrl: "/v1/auth/attestation/verify",
  returns: false,
};

/**
 * The page's Content-Security-Policy: only files and requests of this origin,
 * no framing.
 */
export const PAGE_CSP: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Serves the page at `base` (`/` if it is empty) and its files under
 * `<base>/ui/`, compressed for clients that accept gzip.
 */
export function addPage<E extends Env>(
  app: Hono<E>,
  base: string,
  config: PageConfig,
): void {
  const headers: readonly (readonly [string, string])[] = [
    ...PAGE_HEADERS,
    ["content-security-policy", PAGE_CSP],
    ["x-content-type-options", "nosniff"],
  ];
  const serve = (path: string, type: string, text: string) => {
    const packed = new PackedText(text);
    app.get(path, (c) => packed.send(c, type, headers));
  };
  serve(base || "/", "text/html; charset=utf-8", complete(base, config));
  serve(`${base}/ui/style.css`, "text/css; charset=utf-8", STYLE);
  serve(`${base}/ui/page.min.js`, "text/javascript; charset=utf-8", SCRIPT);
}

/**
 * Returns the HTML with its config and icon, which saves the page two requests.
 */
function complete(base: string, config: PageConfig): string {
  const json = JSON.stringify(config).replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const icon = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
  return PAGE.replaceAll('"/ui/icon.svg"', () => `"${icon}"`)
    .replaceAll('"/ui/', () => `"${base}/ui/`)
    .replace(
      'name="sig-config" content=""',
      () => `name="sig-config" content="${json}"`,
    );
}
