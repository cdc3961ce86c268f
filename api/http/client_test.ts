import { assertEquals, assertThrows } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { createClientAddress, createRateLimiter } from "./client.ts";

function clientOf(
  trustProxy: readonly string[],
  socket: string | undefined,
  forwarded?: string,
): string | undefined {
  return createClientAddress(trustProxy)(
    new Headers(
      forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
    ),
    socket === undefined ? undefined : { remoteAddr: { hostname: socket } },
  );
}

const PROXIES = ["10.0.0.0/8", "fd00::/8"];

Deno.test("X-Forwarded-For is trusted only from trusted proxies, and read from its end", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["10.0.0.1", "192.0.2.1", "192.0.2.1"],
    ["10.0.0.1", "198.51.100.9, 192.0.2.1", "192.0.2.1"],
    ["10.0.0.1", "198.51.100.9, 192.0.2.1, 10.1.2.3", "192.0.2.1"],
    ["10.0.0.1", "192.0.2.1,10.1.2.3 ,  10.9.9.9", "192.0.2.1"],
    ["10.0.0.1", "10.1.1.1, 10.2.2.2", "10.1.1.1"],
    ["10.0.0.1", "2001:db8::1", "2001:db8::1"],
    ["fd00::1", "192.0.2.1", "192.0.2.1"],
    ["::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"],
    ["10.0.0.1", "192.0.2.1, ::ffff:10.0.0.2", "192.0.2.1"],
    // Untrusted parts: the last known address is used.
    ["10.0.0.1", "192.0.2.1, nonsense", "10.0.0.1"],
    ["10.0.0.1", "192.0.2.1:80", "10.0.0.1"],
    ["10.0.0.1", "192.0.2.1, ", "10.0.0.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", "a\u0085b", "10.0.0.1"],
    // White space in HTTP is SP and HTAB.
    ["10.0.0.1", "198.51.100.9,\t192.0.2.1 \t", "192.0.2.1"],
    ["10.0.0.1", "192.0.2.1, \u00a0198.51.100.9", "10.0.0.1"],
    ["10.0.0.1", "192.0.2.1, 198.51.100.9\u00a0", "10.0.0.1"],
    // A direct client can send any value.
    ["203.0.113.5", "192.0.2.1", "203.0.113.5"],
    ["::ffff:203.0.113.5", "192.0.2.1", "203.0.113.5"],
  ];
  for (const [socket, forwarded, expected] of rows) {
    assertEquals(
      clientOf(PROXIES, socket, forwarded),
      expected,
      `${socket} <- ${forwarded}`,
    );
  }
});

Deno.test("without trusted proxies only the socket's address is used", () => {
  assertEquals(clientOf([], "203.0.113.5", "192.0.2.1"), "203.0.113.5");
  assertEquals(clientOf([], undefined, "192.0.2.1"), undefined);
  assertEquals(clientOf(PROXIES, undefined, "192.0.2.1"), undefined);
  assertEquals(
    createClientAddress()(new Headers(), { remoteAddr: {} }),
    undefined,
  );
});

Deno.test("rejects an invalid network", () => {
  const bad = ["", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08"];
  const more = ["::/129", "proxy/8", "010.0.0.0/8", "10.0.0.0/8/8", "/8"];
  for (const network of [...bad, ...more, "10.0.0.0/8\n", " 10.0.0.0/8"]) {
    const { context } = assertSigError(
      () => createClientAddress([network]),
      "invalid_request",
      `Cannot trust proxy ${JSON.stringify(network)}: it must be a network`,
    );
    assertEquals(context.flag, "--trust-proxy");
  }
});

/** Returns how many of `count` requests are allowed. */
function passed(times: number, take: () => void): number {
  let count = 0;
  for (let i = 0; i < times; i++) {
    try {
      take();
      count++;
    } catch {
      // Rejected.
    }
  }
  return count;
}

Deno.test("a burst passes, and tokens are refilled evenly", () => {
  const take = createRateLimiter({ perSecond: 10 });
  assertEquals(passed(50, () => take("192.0.2.1", 0)), 10);
  assertEquals(passed(50, () => take("192.0.2.1", 99)), 0);
  assertEquals(passed(50, () => take("192.0.2.1", 100)), 1);
  assertEquals(passed(50, () => take("192.0.2.1", 600)), 5);
  assertEquals(passed(50, () => take("192.0.2.1", 999_999)), 10);
});

Deno.test("a rejection says when to retry", () => {
  const take = createRateLimiter({ perSecond: 2 });
  take("192.0.2.1", 0);
  take("192.0.2.1", 0);
  const { context } = assertSigError(
    () => take("192.0.2.1", 0),
    "rate_limited",
    "Cannot answer: more than 2 requests a second from this address",
  );
  assertEquals(context.retry_after_seconds, 1);
  take("192.0.2.1", 1000);
});

Deno.test("clients have separate limits", () => {
  const take = createRateLimiter({ perSecond: 1 });
  const others = [
    "192.0.2.1",
    "192.0.2.2",
    "2001:db8:0:1::1",
    "2001:db8:0:2::1",
  ];
  const mapped = [
    "::ffff:192.0.2.3",
    "::ffff:192.0.2.4",
    "::1",
    "",
    "odd%name",
  ];
  for (const client of [...others, ...mapped]) {
    assertEquals(passed(3, () => take(client, 0)), 1, client);
  }
});

Deno.test("an IPv6 client has one limit for its whole /64", () => {
  const take = createRateLimiter({ perSecond: 1 });
  take("2001:db8::1", 0);
  for (
    const client of ["2001:db8::2", "2001:db8:0:0:ffff::", "2001:DB8::1:2:3:4"]
  ) {
    assertEquals(passed(1, () => take(client, 0)), 0, client);
  }
});

Deno.test("a clock that is set back neither blocks a client nor grants requests", () => {
  const take = createRateLimiter({ perSecond: 1 });
  take("192.0.2.1", 10_000);
  assertEquals(passed(5, () => take("192.0.2.1", 0)), 0);
  assertEquals(passed(5, () => take("192.0.2.1", 1000)), 1);
});

Deno.test("of 10,000 clients the least recently seen is forgotten", () => {
  const take = createRateLimiter({ perSecond: 1 });
  for (let i = 0; i < 10_000; i++) take(`client ${i}`, 0);
  assertEquals(passed(1, () => take("client 0", 0)), 0);
  take("one more", 0);
  assertEquals(passed(1, () => take("client 0", 0)), 0);
  assertEquals(passed(1, () => take("client 1", 0)), 1);
});

Deno.test("rejects a limit below one request per second", () => {
  for (const perSecond of [0, -1, NaN, 0.5]) {
    assertThrows(
      () => createRateLimiter({ perSecond }),
      RangeError,
      "Cannot limit: perSecond must be at least 1",
    );
  }
});
