import { assertEquals } from "@std/assert";
import { hostsOf } from "./hosts_of.ts";

const of = (url: string, host?: string) =>
  hostsOf(new Request(url, { headers: host === undefined ? {} : { host } }));

Deno.test("a request is asked by the host of its URL and by its header", () => {
  assertEquals(of("http://a.example/x"), ["a.example"]);
  assertEquals(of("http://a.example/x", "a.example"), ["a.example"]);
  assertEquals(of("http://a.example/x", "b.example:1"), [
    "a.example",
    "b.example:1",
  ]);
});

Deno.test("one that is no host makes the whole request's URL unreadable", () => {
  for (const host of ["", "b.example/docs#", "[", "a b", "u@a.example"]) {
    assertEquals(of("http://a.example/x", host), undefined, host);
  }
  // As a server makes it of what a client sent.
  const odd = { url: "http://a b/docs", headers: new Headers() } as Request;
  assertEquals(hostsOf(odd), undefined);
});
