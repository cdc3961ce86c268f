import { assertEquals } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { parseAddress } from "./address.ts";

const GOOD: readonly (readonly [string, string, number])[] = [
  ["127.0.0.1:8080", "127.0.0.1", 8080],
  ["127.0.0.1:0", "127.0.0.1", 0],
  ["0.0.0.0:65535", "0.0.0.0", 65535],
  ["localhost:1", "localhost", 1],
  ["[::1]:80", "::1", 80],
  ["[2001:db8::1]:443", "2001:db8::1", 443],
  ["[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80],
];

const BAD = [
  ...["", ":", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536"],
  ...["127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:080", "127.0.0.1:1e3"],
  ...["127.0.0.1: 80", " 127.0.0.1:80", "127.0.0.1:80 ", "127.0.0.1:80/"],
  ...["127.1:80", "256.0.0.1:80", "127.0.0.01:80", "0x7f.0.0.1:80", "1:80"],
  ...["::1:80", "[::1]", "[::1:80", "[1:2]:80", "[::1%eth0]:80", "[]:80"],
  ...["http://127.0.0.1:80", "user@host:80", "a..b:80", "-a:80", "ho st:80"],
];

Deno.test("an address is host:port, with brackets around IPv6", () => {
  for (const [text, hostname, port] of GOOD) {
    assertEquals(parseAddress(text), { hostname, port });
  }
});

Deno.test("any other address is refused, not guessed", async (t) => {
  for (const text of BAD) {
    await t.step(JSON.stringify(text), () => {
      const { context } = assertSigError(
        () => parseAddress(text),
        "invalid_request",
        `Cannot run: --addr ${JSON.stringify(text)} must be host:port`,
      );
      assertEquals(context.flag, "--addr");
    });
  }
});
