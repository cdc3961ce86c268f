import { assertEquals } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { createClientAddress } from "./client.ts";

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
