import { assertEquals } from "@std/assert";
import { hostCookie } from "./cookies.ts";

Deno.test("a cookie is ignored if it is sent twice, or if its name begins with U+00A0", () => {
  const cookie = hostCookie("sig-session", "https://login.example");
  const read = (text: string) =>
    cookie.read({ get: () => text } as unknown as Headers);
  assertEquals(read("a=b;\t __Host-sig-session=own \t; c=d"), "own");
  // Of two with the same name none is used.
  const twice = "__Host-sig-session=own; __Host-sig-session=theirs";
  assertEquals(read(twice), undefined);
  for (const space of ["\xa0", "\u2003", "\ufeff", "\v", "\f", "\n", "\xa0 "]) {
    assertEquals(read(`a=b; ${space}__Host-sig-session=theirs`), undefined);
    assertEquals(
      read(`${space}__Host-sig-session=theirs; __Host-sig-session=own`),
      "own",
    );
  }
});

Deno.test("a browser keeps its secret, and one of another form or sent twice is replaced", () => {
  const cookie = hostCookie("sig-browser", "https://login.example");
  const secretIn = (...values: string[]) =>
    cookie.secretIn(
      new Headers({
        cookie: values.map((value) => `__Host-sig-browser=${value}`).join("; "),
      }),
    );
  const secret = "S".repeat(43);
  assertEquals(secretIn(secret), secret);
  const made = [[], [`${secret}x`], ["short"], [secret, secret]]
    .map((values) => secretIn(...values));
  assertEquals(new Set([secret, ...made]).size, 5);
  for (const each of made) assertEquals(each.length, 43);
});

Deno.test("cookies are host-only and HttpOnly, and at each port another one", () => {
  const setAt = (origin: string) =>
    hostCookie("sig-session", origin).set("x", 9);
  const attributes = "=x; Max-Age=9; Path=/; HttpOnly; SameSite=Lax";
  assertEquals(setAt("https://login.example"), [
    "set-cookie",
    `__Host-sig-session${attributes}; Secure`,
  ]);
  assertEquals(setAt("http://127.0.0.1:8788"), [
    "set-cookie",
    `sig-session-8788${attributes}`,
  ]);
});
