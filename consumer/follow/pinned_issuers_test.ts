import { assertEquals } from "@std/assert";
import type { PinnedIssuer } from "./issuer_record.ts";
import { PinnedIssuers } from "./pinned_issuers.ts";

/** A pin that can be told from others. */
function pinned(sequence: number): PinnedIssuer {
  return { pin: { sequence } } as unknown as PinnedIssuer;
}

/** Keeps one a host, in that order, and tells which are left. */
function left(max: number, hosts: readonly string[]): readonly string[] {
  const all = new PinnedIssuers(max);
  for (const [i, host] of hosts.entries()) all.keep(host, host, pinned(i));
  assertEquals(all.size, Math.min(max, new Set(hosts).size));
  return hosts.filter((host) => all.take(host, host) !== undefined);
}

Deno.test("of issuers without a site in common, those kept first go", () => {
  assertEquals(left(2, ["a.example", "b.example", "c.example"]), [
    "b.example",
    "c.example",
  ]);
});

Deno.test("the site that has most pins loses its first ones", () => {
  const mallory = ["1", "2", "3", "4"].map((name) => `${name}.mallory.test`);
  assertEquals(
    left(4, ["a.one.test", "b.one.test", ...mallory, "a.two.test"]),
    [
      "b.one.test",
      "3.mallory.test",
      "4.mallory.test",
      "a.two.test",
    ],
  );
  // Ports and names below one domain are one site, addresses are their own.
  assertEquals(left(2, ["10.0.0.1", "10.9.0.1", "[2001:db8::1]"]), [
    "10.9.0.1",
    "[2001:db8::1]",
  ]);
});

Deno.test("a pin that is kept again is kept once, and anew", () => {
  const all = new PinnedIssuers(2);
  all.keep("a", "a.example", pinned(1));
  all.keep("b", "b.example", pinned(1));
  all.keep("a", "a.example", pinned(2));
  assertEquals(all.size, 2);
  all.keep("c", "c.example", pinned(1));
  assertEquals(all.take("b", "b.example"), undefined);
  assertEquals(all.take("a", "a.example"), pinned(2));
  assertEquals(all.take("a", "a.example"), undefined);
  assertEquals(all.size, 1);
});
