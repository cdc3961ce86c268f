import { assertEquals } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { createHostList } from "./host_list.ts";

Deno.test("only listed names are known, whatever the port unless one is named", () => {
  const isKnown = createHostList([
    "localhost",
    "127.0.0.1",
    "[::1]",
    "Login.Example:8443",
    "plain.example:80",
  ]);
  const known = ["localhost", "LOCALHOST", "localhost:1", "127.0.0.1:65535"];
  const named = [
    "[::1]",
    "[::1]:80",
    "login.example:8443",
    "LOGIN.EXAMPLE:8443",
  ];
  for (
    const host of [...known, ...named, "plain.example", "plain.example:80"]
  ) {
    assertEquals(isKnown(host), true, host);
  }
  const odd = ["", ":80", "localhost:", "localhost:x", "localhost:123456"];
  const near = ["localhost.", "localhost.evil.example", "evillocalhost", "::1"];
  const ports = ["login.example", "login.example:80", "plain.example:81"];
  const tricks = ["user@localhost", "localhost/evil", "localhost\t", "[::2]"];
  const numbers = ["2130706433", "127.1", "0x7f.0.0.1", "localhost:80:80"];
  for (const host of [...odd, ...near, ...ports, ...tricks, ...numbers]) {
    assertEquals(isKnown(host), false, host);
  }
});

Deno.test("a name that was known just before opens no other", () => {
  const isKnown = createHostList(["localhost"]);
  assertEquals(isKnown("localhost:1"), true);
  assertEquals(isKnown("evil.example"), false);
  assertEquals(isKnown("evil.example"), false);
});

Deno.test("an entry that is no host is refused", () => {
  for (
    const entry of [
      "",
      "http://a.example",
      "a b",
      "a/b",
      "*",
      "a:b",
      "é.example",
    ]
  ) {
    const { context } = assertSigError(
      () => createHostList([entry]),
      "invalid_request",
      `Cannot answer to ${
        JSON.stringify(entry)
      }: it must be a host name, with a port at most`,
    );
    assertEquals(context.flag, "--host");
  }
});
