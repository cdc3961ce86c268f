import { assertEquals } from "@std/assert";
import { trimOws } from "./trim_ows.ts";

Deno.test("removes only SP and HTAB, at both ends", () => {
  assertEquals(trimOws(" \t close \t"), "close");
  assertEquals(trimOws(" \t "), "");
  for (const other of ["\u00a0", "\ufeff", "\u2003", "\r", "\n", "\v", "\f"]) {
    assertEquals(trimOws(`${other}close${other}`), `${other}close${other}`);
  }
});
