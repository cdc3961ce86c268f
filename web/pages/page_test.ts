import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readFeedVector } from "../../tests/kit/vectors.ts";
import { ORIGIN, Site } from "../testdata/site.ts";

/** A site of an issuer that answers each request with a status. */
function failingSite(status: number) {
  const asked = { count: 0 };
  const site = new Site({
    issuers: ["acme.example"],
    fetch() {
      asked.count++;
      return Promise.resolve(new Response(null, { status }));
    },
  });
  return { site, asked };
}

/** Requests a path with headers. */
function get(site: Site, path: string, headers: Record<string, string> = {}) {
  return site.app.fetch(new Request(ORIGIN + path, { headers }));
}

Deno.test("a request for an unknown document does not reach the issuer", async () => {
  const { site, asked } = failingSite(404);
  const { status, body } = await site.ask("/ui/issuers/0/key.jwk");
  assertEquals([status, body.code, asked.count], [404, "not_found", 0]);
  assertEquals((await site.ask("/ui/issuers/0/sig.json")).status, 502);
  assertEquals(asked.count, 1);
});

Deno.test("a failing issuer is queried once in five seconds, however many people visit", async () => {
  const { site, asked } = failingSite(500);
  for (let i = 0; i < 10; i++) {
    for (const file of ["sig.json", "events.jsonl"]) {
      const { status, body } = await site.ask(`/ui/issuers/0/${file}`);
      assertEquals([status, body.code], [502, "fetch_status"]);
    }
    site.nowMs += 499;
  }
  assertEquals(asked.count, 1);
  site.nowMs += 10;
  await site.ask("/ui/issuers/0/sig.json");
  assertEquals(asked.count, 2);
});

Deno.test("the page has a strict Content-Security-Policy and an ETag", async () => {
  const site = new Site();
  const page = await site.ask("/");
  assertEquals(page.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = page.headers.get("content-security-policy") ?? "";
  assertStringIncludes(policy, "default-src 'none'");
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assert(!policy.includes("unsafe"));
  const etag = page.headers.get("etag") ?? "";
  const again = await get(site, "/", { "if-none-match": etag });
  assertEquals([again.status, await again.text()], [304, ""]);
  const paths = [...page.text.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)];
  assertEquals(paths.length, 2);
  for (const [, path] of paths) {
    assertEquals((await site.ask(path!)).status, 200, path);
  }
});

Deno.test("the page contains its config, and no text in it can end the attribute", async () => {
  const scopes = ['a"><script>alert(1)</script>', "b&quot;", "$& $`"];
  const site = new Site({ scopes });
  const { text } = await site.ask("/");
  const [, value = ""] = /<meta name="sig-config" content="([^"<]*)">/
    .exec(text) ?? [];
  const json = value.replaceAll("&lt;", "<").replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
  assertEquals(JSON.parse(json).scopes, scopes);
  assert(!text.includes("<script>"));
});

Deno.test("the page's script is at most 80 kB for a browser", async () => {
  const site = new Site();
  const response = await get(site, "/ui/page.min.js", {
    "accept-encoding": "gzip, deflate, br, zstd",
  });
  assertEquals(response.headers.get("content-encoding"), "br");
  const { length } = await response.bytes();
  assert(length <= 80_000, `${length}`);
});

Deno.test("brotli and gzip are only sent to clients that accept them", async () => {
  const site = new Site();
  for (
    const [accepted, coding] of [
      ["gzip", "gzip"],
      ["gzip, br", "br"],
      ["br;q=0, GZIP;q=0.5", "gzip"],
      ["gzip;q=0", null],
      ["gzip; q=0.000, br", "br"],
      ["x-gzip, identity", null],
      ["*", null],
      ["", null],
    ] as const
  ) {
    const response = await get(site, "/ui/style.css", {
      "accept-encoding": accepted,
    });
    await response.body?.cancel();
    assertEquals(response.headers.get("content-encoding"), coding, accepted);
  }
});

Deno.test("the page is identical in both encodings, each with a separate ETag", async () => {
  const site = new Site();
  const script = (headers: Record<string, string>) =>
    get(site, "/ui/page.min.js", headers);
  const plain = await script({});
  const packed = await script({ "accept-encoding": "gzip" });
  assertEquals(plain.headers.get("content-encoding"), null);
  assertEquals(packed.headers.get("content-encoding"), "gzip");
  for (const each of [plain, packed]) {
    assertEquals(each.headers.get("vary"), "accept-encoding");
  }
  const bytes = await packed.bytes();
  assertEquals(packed.headers.get("content-length"), `${bytes.length}`);
  const unpacked = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  const text = await plain.text();
  assertEquals(await new Response(unpacked).text(), text);
  assert(bytes.length < text.length / 2);

  const tags = [plain, packed].map(({ headers }) => headers.get("etag") ?? "");
  assert(tags[0] !== tags[1]);
  const again = await script({
    ...{ "accept-encoding": "gzip", "if-none-match": tags[1]! },
  });
  assertEquals([again.status, await again.text()], [304, ""]);
  const other = await script({ "if-none-match": tags[1]! });
  assertEquals(other.status, 200);
  await other.body?.cancel();
});

Deno.test("an issuer's documents are compressed, and an unchanged one is not sent again", async () => {
  const { documents } = readFeedVector("history");
  let answered = 0;
  const site = new Site({
    issuers: ["acme.example"],
    fetch(url) {
      answered++;
      const { pathname } = new URL(url instanceof Request ? url.url : url);
      const bytes = documents.get(pathname.slice(1));
      return Promise.resolve(
        new Response(bytes ?? null, { status: bytes ? 200 : 404 }),
      );
    },
  });
  const feed = (headers: Record<string, string> = {}) =>
    get(site, "/ui/issuers/0/events.jsonl", {
      ...{ "accept-encoding": "gzip", ...headers },
    });
  const first = await feed();
  assertEquals(first.status, 200, await first.clone().text());
  assertEquals(first.headers.get("content-encoding"), "gzip");
  // With no-store a browser could not ask whether it has changed.
  assertEquals(first.headers.get("cache-control"), "no-cache");
  const body = first.body!.pipeThrough(new DecompressionStream("gzip"));
  assertEquals(
    await new Response(body).bytes(),
    documents.get(".well-known/sig/events.jsonl"),
  );
  const etag = first.headers.get("etag") ?? "";
  const before = answered;
  site.nowMs += 5_000;
  const again = await feed({ "if-none-match": etag });
  assertEquals([again.status, await again.text()], [304, ""]);
  assert(answered > before);
});
