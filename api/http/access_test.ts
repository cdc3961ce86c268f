import { assertEquals } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { hostsOf, requireHost } from "./access.ts";

const UNKNOWN = "host_not_allowed";

function requestOf(url: string, host?: string): Request {
  return new Request(url, { headers: host === undefined ? {} : { host } });
}

/** Returns the error code for a `Host`; undefined if it is allowed. */
function refusal(
  check: (request: Request) => void,
  host?: string,
  url = "http://localhost:1/",
) {
  try {
    check(requestOf(url, host));
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

Deno.test("only listed names are answered; an entry without a port allows every port", () => {
  const check = requireHost([
    "localhost",
    "127.0.0.1",
    "[::1]",
    "Login.Example:8443",
    "plain.example:80",
  ]);
  const known = ["localhost", "LOCALHOST", "localhost:1", "127.0.0.1:65535"];
  const named = ["[::1]", "[::1]:80", "login.example:8443", "plain.example"];
  for (
    const host of [...known, ...named, "LOGIN.EXAMPLE:8443", "plain.example:80"]
  ) {
    assertEquals(refusal(check, host), undefined, host);
  }
  const near = ["localhost.", "localhost.evil.example", "evillocalhost"];
  const ports = ["login.example", "login.example:80", "plain.example:81"];
  const numbers = ["2130706433", "127.1", "0x7f.0.0.1", "[::2]"];
  for (const host of [...near, ...ports, ...numbers]) {
    assertEquals(refusal(check, host), UNKNOWN, host);
  }
  // A name that was just accepted does not allow another.
  for (const host of ["localhost:1", "localhost", undefined]) {
    assertEquals(refusal(check, host), undefined);
    assertEquals(refusal(check, "evil.example"), UNKNOWN);
    assertEquals(refusal(check, host, "http://evil.example/"), UNKNOWN);
    assertEquals(refusal(check, undefined, "http://evil.example/"), UNKNOWN);
  }
});

Deno.test("rejects a list entry that is not a host", () => {
  const bad = ["", "http://a.example", "a b", "a/b", "*", "a:b", "é.example"];
  for (const entry of bad) {
    const { context } = assertSigError(
      () => requireHost([entry]),
      "invalid_request",
      `Cannot answer to ${
        JSON.stringify(entry)
      }: it must be a host name, with a port at most`,
    );
    assertEquals(context.flag, "--host");
  }
});

Deno.test("both the host of the URL and the Host header are checked", () => {
  const of = (host?: string) => hostsOf(requestOf("http://a.example/x", host));
  assertEquals(of(), ["a.example"]);
  assertEquals(of("a.example"), ["a.example"]);
  assertEquals(of("b.example:1"), ["a.example", "b.example:1"]);
  const hosts = ["localhost", "LOCALHOST:1", "a_b.example", "a'b.example"];
  const addresses = ["127.0.0.1:65535", "[::1]", "[::1]:80", "127.1"];
  for (const host of [...hosts, ...addresses]) {
    assertEquals(of(host), ["a.example", host]);
  }
});

Deno.test("an invalid host makes the request's URL unusable", () => {
  const shifting = ["a/docs#", "a/docs?", "a/", "a?", "a#", "a\\b", "u@a"];
  const broken = ["", "a b", "[", "[::1", "a:99999", "a:x", "%zz", ":80"];
  const lists = ["a, b", "a,\tb", "é.example", "a\u0080", "999.1.1.1", "a:"];
  for (const host of [...shifting, ...broken, ...lists]) {
    const request = requestOf("http://a.example/x", host);
    assertEquals(hostsOf(request), undefined, host);
    assertSigError(
      () => requireHost()(request),
      "invalid_request",
      "Cannot answer: the header host must be a name or an address, with a port at most",
    );
  }
  // Builds a request as a server does from what a client sent.
  const odd = { url: "http://a b/docs", headers: new Headers() } as Request;
  assertEquals(hostsOf(odd), undefined);
});
