/** The page of `sigLogin`. @module */

import { PAGE_HEADERS } from "@sig/api/http";
import type { Hono } from "hono";
import script from "./login_page.js" with { type: "text" };
import type { SigEnv } from "./sig_session.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE =
  `body{font:16px/1.5 system-ui,sans-serif;margin:0;color-scheme:light dark}
main{max-width:34rem;margin:10vh auto;padding:0 1rem}
code,pre{overflow-wrap:anywhere;white-space:pre-wrap}
button{font:inherit;padding:.5rem 1.2rem}
`;

/** Serves the page, its script and its style. */
export function addLoginPage(app: Hono<SigEnv>, path: string): void {
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="${path}/login.css"></head>
<body><main data-path="${path}"><h1>Sign in</h1>
<p id="status" role="status">Your key signs, in this browser.</p>
<p><button id="go" disabled>Sign in</button></p>
<details><summary>Your key</summary><p><code id="key">There is none yet.</code></p></details>
</main><script type="module" src="${path}/login.js"></script></body></html>
`;
  const serve = (at: string, type: string, text: string) =>
    app.get(`${path}/${at}`, (c) => {
      for (const [name, value] of PAGE_HEADERS) c.header(name, value);
      c.header("content-security-policy", POLICY);
      c.header("x-content-type-options", "nosniff");
      c.header("cache-control", "no-cache");
      return c.body(text, 200, { "content-type": type });
    });
  serve("login", "text/html; charset=utf-8", page);
  serve("login.js", "text/javascript; charset=utf-8", script);
  serve("login.css", "text/css; charset=utf-8", STYLE);
}
