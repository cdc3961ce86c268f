import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { utcSeconds } from "./utc_seconds.ts";

const expected = (seconds: number) =>
  new Date(seconds * 1000).toISOString().slice(0, 19);

Deno.test("a second is written as the platform writes it", () => {
  const from = Date.parse("0000-01-01T00:00:00Z") / 1000;
  const to = Date.parse("9999-12-31T23:59:59Z") / 1000;
  fc.assert(fc.property(fc.integer({ min: from, max: to }), (seconds) => {
    assertEquals(utcSeconds(seconds), expected(seconds));
  }));
  for (const seconds of [from, -1, 0, 1, to]) {
    assertEquals(utcSeconds(seconds), expected(seconds));
  }
});

Deno.test("every day from 1896 to 2104, and those around the centuries", () => {
  const day = (text: string) => Date.parse(text) / 86_400_000;
  const days = new Set<number>();
  const add = (from: string, to: string) => {
    for (let at = day(from); at <= day(to); at++) days.add(at);
  };
  add("1896-01-01", "2104-12-31");
  for (const year of ["0001", "0100", "0400", "1600", "1700", "2400", "9998"]) {
    add(`${year}-01-01`, `${year}-12-31`);
  }
  for (const each of days) {
    assertEquals(utcSeconds(each * 86_400), expected(each * 86_400));
  }
});
