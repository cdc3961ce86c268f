import { assertEquals } from "@std/assert";
import { placeAfterSignIn } from "./use_sign_in.ts";

Deno.test("links to the login page stay on its origin", () => {
  const origin = "https://shop.example";
  for (
    const [rd, place] of [
      ["/?a=1", "/?a=1"],
      [`${origin}/cart`, "/cart"],
      ["https://evil.example/", "/"],
      ["//evil.example/", "/"],
      ["\\\\evil.example", "/"],
      ["javascript:alert(1)", "/"],
      ["data:text/html,x", "/"],
    ] as const
  ) {
    const page = `${origin}/sig/login?rd=${encodeURIComponent(rd)}`;
    assertEquals(placeAfterSignIn(page), origin + place, rd);
  }
  assertEquals(placeAfterSignIn(`${origin}/sig/login`), `${origin}/`);
});
