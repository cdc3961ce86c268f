import { assert, assertEquals } from "@std/assert";
import { createApp } from "../app.ts";
import { PAGE_HEADERS } from "../http/mod.ts";
import { get } from "../testdata/asking.ts";

/**
 * The page without its inlined style sheet and script, which are returned
 * separately.
 */
function split(html: string) {
  const [, style = ""] = /<style>([^]*)<\/style>/.exec(html)!;
  const [, script = ""] = /<script type="module">([^]*)<\/script>/.exec(html)!;
  const rest = html.replace(style, () => "").replace(script, () => "");
  return { rest, style, script };
}

async function hashOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `'sha256-${new Uint8Array(digest).toBase64()}'`;
}

Deno.test("the page is the same for every service and loads nothing", async () => {
  const { headers, body: html } = await get(createApp(), "/docs");
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  const { body: other } = await get(createApp({ token: "secret" }), "/docs");
  assertEquals(other, html);
  const { rest, style } = split(html);
  const loads = [
    ...(rest + style).matchAll(
      /(?:src|href|action|url)\s*[=(]\s*"?([^"\s>]+)/g,
    ),
  ].map(([, target]) => target);
  assertEquals(loads, ["#content", "/openapi.json"]);
  assert(!/<link|<img|<script (?!type="module"><)|\son[a-z]+=/i.test(rest));
});

Deno.test("the root of the service redirects to /docs", async () => {
  for (const options of [{}, { token: "secret" }]) {
    const app = createApp(options);
    const { status, headers } = await get(app, "/");
    assertEquals([status, headers.get("location")], [302, "/docs"]);
  }
  const { body: document } = await get(createApp(), "/openapi.json");
  assertEquals(Object.keys(document.paths).includes("/"), false);
});

Deno.test("the policy allows only the page's own style, script and requests to the service", async () => {
  const { headers, body: html } = await get(createApp(), "/docs");
  const { style, script } = split(html);
  assert(style.length > 100 && script.length > 100);
  assertEquals(
    headers.get("content-security-policy"),
    `default-src 'none'; style-src ${await hashOf(style)}; ` +
      `script-src ${await hashOf(script)}; connect-src 'self'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  for (const [name, value] of PAGE_HEADERS) {
    assertEquals(headers.get(name), value);
  }
});

Deno.test("the document says whether a token is required", async () => {
  const security = async (token?: string) =>
    (await get(createApp({ token }), "/openapi.json")).body.security;
  assertEquals(await security(), [{ bearer: [] }, {}]);
  assertEquals(await security("secret"), [{ bearer: [] }]);
});
