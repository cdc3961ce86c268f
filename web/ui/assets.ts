/** The embedded page: every file that it needs, as text. @module */

import app from "./app.js" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import more from "./more.js" with { type: "text" };
import page from "./index.html" with { type: "text" };
import style from "./style.css" with { type: "text" };

/** A file of the page. */
export interface Asset {
  /** The value of `content-type`. */
  readonly type: string;
  /** The content, UTF-8 when sent. */
  readonly text: string;
}

/**
 * The page's files by the path that they are served under: `/` and `/ui/…`.
 * The scripts are made of what stands in the folders here, by
 * `deno task bundle-ui`.
 *
 * @example
 * ```ts
 * import { ASSETS } from "./assets.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ASSETS.get("/")?.type, "text/html; charset=utf-8");
 * ```
 */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ["/", { type: "text/html; charset=utf-8", text: page }],
  ["/ui/style.css", { type: "text/css; charset=utf-8", text: style }],
  ["/ui/icon.svg", { type: "image/svg+xml", text: icon }],
  ["/ui/app.js", { type: "text/javascript; charset=utf-8", text: app }],
  ["/ui/more.js", { type: "text/javascript; charset=utf-8", text: more }],
]);

/**
 * What the page may do: its own scripts and styles, requests to its own server,
 * and nothing else; no other site may frame it. (SECURITY §5, W8)
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
