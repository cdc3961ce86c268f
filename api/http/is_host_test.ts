import { assertEquals } from "@std/assert";
import { isHost } from "./is_host.ts";

Deno.test("a name or an address with a port at most is a host", () => {
  const hosts = ["localhost", "LOCALHOST:1", "a_b.example", "a'b.example"];
  const addresses = ["127.0.0.1:65535", "[::1]", "[::1]:80", "127.1"];
  for (const host of [...hosts, ...addresses]) {
    assertEquals(isHost(host), true, host);
  }
});

Deno.test("what would shift the path, or is no host, is none", () => {
  const shifting = ["a/docs#", "a/docs?", "a/", "a?", "a#", "a\\b", "u@a"];
  const broken = ["", " ", "a b", "[", "[::1", "a:99999", "a:x", "%zz", ":80"];
  const lists = ["a, b", "a,\tb", "é.example", "a\u0080", "999.1.1.1", "a:"];
  for (const text of [...shifting, ...broken, ...lists]) {
    assertEquals(isHost(text), false, text);
  }
});
