import { assert, assertEquals } from "@std/assert";
import { ORIGIN, Site } from "../testdata/site.ts";
import { takesGzip } from "./compressed.ts";

Deno.test("gzip is sent to whoever says to take it, and to nobody else", () => {
  for (
    const [accepted, expected] of [
      ["gzip", true],
      ["br, GZIP;q=0.5", true],
      ["gzip;q=0", false],
      ["gzip; q=0.000, br", false],
      ["x-gzip, identity", false],
      ["*", false],
      ["", false],
    ] as const
  ) {
    const headers = { "accept-encoding": accepted };
    assertEquals(takesGzip(new Request(ORIGIN, { headers })), expected);
  }
});

Deno.test("the page is the same in both codings, each with its own tag", async () => {
  const site = new Site();
  const get = (headers: Record<string, string>) =>
    site.app.fetch(new Request(`${ORIGIN}/ui/app.js`, { headers }));
  const plain = await get({});
  const packed = await get({ "accept-encoding": "gzip" });
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
  assert(bytes.length < text.length / 3);

  const tags = [plain, packed].map(({ headers }) => headers.get("etag") ?? "");
  assert(tags[0] !== tags[1]);
  const again = await get({
    "accept-encoding": "gzip",
    "if-none-match": tags[1]!,
  });
  assertEquals([again.status, await again.text()], [304, ""]);
  const other = await get({ "if-none-match": tags[1]! });
  assertEquals(other.status, 200);
  await other.body?.cancel();
});
