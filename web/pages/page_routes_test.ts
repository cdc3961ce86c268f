import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ORIGIN, Site } from "../testdata/site.ts";

Deno.test("who asks for no document of an issuer makes no request to it", async () => {
  let requests = 0;
  const site = new Site({
    issuers: ["acme.example"],
    fetch() {
      requests++;
      return Promise.resolve(new Response(null, { status: 404 }));
    },
  });
  const { status, body } = await site.ask("/ui/issuers/0/key.jwk");
  assertEquals([status, body.code], [404, "not_found"]);
  assertEquals(requests, 0);
  assertEquals((await site.ask("/ui/issuers/0/sig.json")).status, 502);
  assertEquals(requests, 1);
});

Deno.test("an issuer that fails is asked once in five seconds, whoever visits", async () => {
  let requests = 0;
  const site = new Site({
    issuers: ["acme.example"],
    fetch() {
      requests++;
      return Promise.resolve(new Response(null, { status: 500 }));
    },
  });
  for (let i = 0; i < 10; i++) {
    for (const file of ["sig.json", "events.jsonl"]) {
      const { status, body } = await site.ask(`/ui/issuers/0/${file}`);
      assertEquals([status, body.code], [502, "fetch_status"]);
    }
    site.nowMs += 499;
  }
  assertEquals(requests, 1);
  site.nowMs += 10;
  await site.ask("/ui/issuers/0/sig.json");
  assertEquals(requests, 2);
});

Deno.test("the page has a strict policy, and is sent again only when it changed", async () => {
  const site = new Site();
  const page = await site.ask("/");
  assertEquals(page.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = page.headers.get("content-security-policy") ?? "";
  assertStringIncludes(policy, "default-src 'none'");
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assert(!policy.includes("unsafe"));
  const etag = page.headers.get("etag") ?? "";
  const again = await site.app.fetch(
    new Request(`${ORIGIN}/`, { headers: { "if-none-match": etag } }),
  );
  assertEquals([again.status, await again.text()], [304, ""]);
  const paths = [...page.body.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)];
  assertEquals(paths.length, 2);
  for (const [, path] of paths) {
    assertEquals((await site.ask(path)).status, 200, path);
  }
});

Deno.test("the page holds its config, and no text of it can end the attribute", async () => {
  const scopes = ['a"><script>alert(1)</script>', "b&quot;", "$& $`"];
  const site = new Site({ scopes });
  const { body } = await site.ask("/");
  const [, value = ""] = /<meta name="sig-config" content="([^"<]*)">/
    .exec(body) ?? [];
  const json = value.replaceAll("&lt;", "<").replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
  const { body: config } = await site.ask("/ui/config.json");
  assertEquals(JSON.parse(json), config);
  assertEquals(config.scopes, scopes);
  assert(!body.includes("<script>"));
});
