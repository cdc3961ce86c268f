/** The embedded page: its HTML, style and script. @module */

import { PAGE_HEADERS, send } from "@sig/api/http";
import { eTag, ifNoneMatch } from "@std/http/etag";
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
  const serve = (path: string, type: string, text: string) => {
    const [plain, gzipped] = [
      once(() => plainOf(text)),
      once(() => gzip(text)),
    ];
    app.get(path, async (c) => {
      const isGzip = acceptsGzip(c.req.header("accept-encoding") ?? "");
      const { body, etag } = await (isGzip ? gzipped() : plain());
      const headers = {
        ...Object.fromEntries(PAGE_HEADERS),
        "content-security-policy": PAGE_CSP,
        "x-content-type-options": "nosniff",
        // Browsers revalidate each time and get 304 if nothing changed.
        "cache-control": "no-cache",
        "vary": "accept-encoding",
        etag,
      };
      if (!ifNoneMatch(c.req.header("if-none-match") ?? null, etag)) {
        return new Response(null, {
          status: 304,
          headers: { ...headers, "content-type": type },
        });
      }
      const coding = isGzip ? { "content-encoding": "gzip" } : {};
      return send(c, body, type, {
        headers: Object.entries({ ...headers, ...coding }),
      });
    });
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

/** Whether a client accepts gzip (RFC 9110 §12.5.3). */
function acceptsGzip(accepted: string): boolean {
  return accepted.toLowerCase().split(",").some((each) => {
    const [coding, ...parameters] = each.split(";").map((it) => it.trim());
    return coding === "gzip" &&
      !parameters.some((it) => /^q=0(\.0*)?$/.test(it));
  });
}

interface Packed {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

async function plainOf(body: Packed["body"]): Promise<Packed> {
  return { body, etag: await eTag(body) ?? "" };
}

async function gzip(text: string): Promise<Packed> {
  const body = new Blob([text]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  return await plainOf(await new Response(body).bytes());
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}
