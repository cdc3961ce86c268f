import { assertEquals } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { duration, parseAddress } from "./values.ts";

Deno.test("a duration is a number with its unit, in milliseconds", () => {
  const good: readonly (readonly [string, number])[] = [
    ["0s", 0],
    ["250ms", 250],
    ["90s", 90_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    ["007s", 7_000],
  ];
  for (const [text, ms] of good) {
    assertEquals(duration.parse(text, "--max-age"), ms);
  }
});

Deno.test("rejects any other duration, with its flag", () => {
  const bad = ["", "5", "m", "5 m", "-5m", "+5m", "1.5h", "1e3s", "5M", "5w"];
  for (const text of [...bad, "1h30m", "5m\n", "٥m", `${"9".repeat(10)}d`]) {
    const { context } = assertSigError(
      () => duration.parse(text, "--max-age"),
      "invalid_request",
      "Cannot run: --max-age must be a number with ms, s, m, h or d",
    );
    assertEquals(context.flag, "--max-age");
  }
});

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

Deno.test("rejects any other address instead of guessing", async (t) => {
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
