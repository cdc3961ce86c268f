import { assertEquals } from "@std/assert";
import { sizeFindings } from "./examine_feed.ts";

Deno.test("a feed that nears what servers take is found, by bytes and by events", () => {
  const codes = (bytes: number, verifiedEvents: number) =>
    sizeFindings({ bytes, verifiedEvents }).map(({ code }) => code);
  assertEquals(codes(50_331_647, 187_499), []);
  assertEquals(codes(50_331_648, 1), ["feed_large"]);
  assertEquals(codes(1, 187_500), ["feed_large"]);
});
