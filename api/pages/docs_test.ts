import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createApp } from "../app.ts";
import { escapeHtml, prose } from "./page.ts";
import { PAGE_HEADERS } from "../http/mod.ts";
import { get } from "../testdata/asking.ts";

Deno.test("the page shows every route, member, example and code, and loads nothing", async () => {
  const app = createApp();
  const { headers, body: html } = await get(app, "/docs");
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  const { body: document } = await get(app, "/openapi.json");
  for (const [path, methods] of Object.entries(document.paths)) {
    assertStringIncludes(html, `<code>${path}</code>`);
    for (const operation of Object.values(methods as object)) {
      assertStringIncludes(html, `id="${operation.operationId}"`);
      for (
        const response of Object.values<{ description: string }>(
          operation.responses,
        )
      ) assertStringIncludes(html, prose(response.description));
    }
  }
  const { properties } = document.components.schemas.CheckRequest;
  for (const name of Object.keys(properties)) {
    assertStringIncludes(html, `<code>${name}</code>`);
  }
  assertStringIncludes(
    html,
    escapeHtml("curl -sS 'http://127.0.0.1/v1/check'"),
  );
  assertStringIncludes(html, escapeHtml('"decision": "deny"'));
  const { html: shown } = split(html);
  const loads = [
    ...shown.matchAll(/(?:src|href|action|url)\s*[=(]\s*"?([^"\s>]+)/g),
  ]
    .map(([, target]) => target);
  for (const target of loads) {
    assert(/^(?:#|\/openapi\.json)/.test(target!), target);
  }
  assert(!/<script|<link|<img|\son[a-z]+=|style="/i.test(shown));
});

/** The page without its style sheet and its script, and these two. */
function split(html: string) {
  const [, style] = /<style>([^]*)<\/style>/.exec(html)!;
  const [, script] = /<script>([^]*)<\/script>/.exec(html)!;
  return {
    html: html.replace(`<style>${style}</style>`, "").replace(
      `<script>${script}</script>`,
      "",
    ),
    style: style!,
    script: script!,
  };
}

async function hashOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `'sha256-${new Uint8Array(digest).toBase64()}'`;
}

Deno.test("who opens the service's address is led to /docs", async () => {
  for (const options of [{}, { token: "secret" }]) {
    const app = createApp(options);
    const { status, headers } = await get(app, "/");
    assertEquals([status, headers.get("location")], [302, "/docs"]);
  }
  const { body: document } = await get(createApp(), "/openapi.json");
  assertEquals(Object.keys(document.paths).includes("/"), false);
});

Deno.test("the policy allows the page's own style, script and service, and nothing else", async () => {
  const { headers, body: html } = await get(createApp(), "/docs");
  const { style, script } = split(html);
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

Deno.test("the examples show a token where one is needed", async () => {
  const { body: without } = await get(createApp(), "/docs");
  assert(!without.includes("authorization: Bearer"));
  const { status, body } = await get(createApp({ token: "secret" }), "/docs");
  assertEquals(status, 200);
  const commands = body.split("curl -sS ").slice(1);
  const open = [
    ...["/healthz", "/.well-known/authzen-configuration"],
    ...["/openapi.json", "/docs"],
  ];
  assertStringIncludes(body, "<input id=token type=password");
  for (const command of commands) {
    const isOpen = open.some((path) =>
      command.startsWith(escapeHtml(`'http://127.0.0.1${path}'`))
    );
    assertEquals(command.includes("Bearer $SIG_TOKEN"), !isOpen);
  }
  assert(!body.includes("Bearer secret"));
});

Deno.test("what a client sends stays text", async () => {
  assertEquals(
    escapeHtml(`<a href='x"'>&`),
    "&lt;a href=&#39;x&quot;&#39;&gt;&amp;",
  );
  assertEquals(prose("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
  const response = await createApp().fetch(
    new Request("http://a'b.example/docs"),
  );
  assertStringIncludes(
    await response.text(),
    escapeHtml("curl -sS 'http://a'\\''b.example/v1/check'"),
  );
});
