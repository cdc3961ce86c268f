import { assertEquals } from "@std/assert";
import { OwnerQuota } from "./owner_quota.ts";

const AT = new Date("2026-01-31T09:00:00Z");
const heldFor = (id: string, ms = 60_000) => ({
  id,
  until: new Date(AT.getTime() + ms),
});

Deno.test("an owner's new record displaces that owner's oldest", () => {
  const quota = new OwnerQuota({ maxRecords: 2 });
  assertEquals(quota.add("a", heldFor("1"), AT), []);
  assertEquals(quota.add("b", heldFor("2"), AT), []);
  assertEquals(quota.add("a", heldFor("3"), AT), []);
  assertEquals(quota.add("a", heldFor("4"), AT), ["1"]);
  // The same record again becomes the newest.
  assertEquals(quota.add("a", heldFor("3"), AT), []);
  assertEquals(quota.add("a", heldFor("5"), AT), ["4"]);
});

Deno.test("an owner without records, or with expired ones, is not remembered", () => {
  const quota = new OwnerQuota({ maxRecords: 2, maxTotal: 3 });
  quota.add("a", heldFor("1"), AT);
  quota.remove("a", "1");
  assertEquals(quota.owners, 0);
  quota.add("b", heldFor("2", 1_000), AT);
  quota.add("c", heldFor("3"), AT);
  assertEquals(quota.owners, 2);
  quota.add("c", heldFor("4"), new Date(AT.getTime() + 1_000));
  assertEquals(quota.owners, 1);
  assertEquals(quota.add("d", heldFor("5"), AT), []);
});

Deno.test("beyond the total, the oldest record of the owner with the most is displaced", () => {
  const quota = new OwnerQuota({ maxRecords: 100, maxTotal: 10 });
  for (let i = 0; i < 9; i++) quota.add("flood", heldFor(`f${i}`), AT);
  assertEquals(quota.add("alice", heldFor("alice"), AT), []);
  assertEquals(quota.add("bob", heldFor("bob"), AT), ["f0"]);
  assertEquals(quota.add("flood", heldFor("f9"), AT), ["f1"]);
});
