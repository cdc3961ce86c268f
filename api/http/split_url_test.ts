import { assertEquals } from "@std/assert";
import { splitUrl } from "./split_url.ts";

Deno.test("authority and path are told without the query", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["http://a", "a", ""],
    ["http://a/", "a", "/"],
    ["http://a:1/b?c=/d", "a:1", "/b"],
    ["http://[::1]:1/b#c", "[::1]:1", "/b"],
    ["http://u@a//b/../c?d#e", "u@a", "//b/../c"],
    ["http://a/b%3Fc", "a", "/b%3Fc"],
  ];
  for (const [url, host, path] of rows) {
    assertEquals(splitUrl(url), { host, path }, url);
  }
});
