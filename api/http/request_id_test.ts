import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { requestIdOf } from "./request_id.ts";

const of = (id: string) => requestIdOf(new Headers({ "x-request-id": id }));

Deno.test("printable ASCII of up to 255 characters is kept", () => {
  for (const id of ["a", "a b", "!~", "x".repeat(255), '{"a":1}', "a, b"]) {
    assertEquals(of(id), id);
  }
});

Deno.test("anything else gets a fresh id", () => {
  for (const id of ["", "é", "a\tb", "x".repeat(256), "\u0085", "a\u007fb"]) {
    assertNotEquals(of(id), id);
    assertMatch(of(id), /^[0-9a-f-]{36}$/);
  }
  assertNotEquals(requestIdOf(new Headers()), requestIdOf(new Headers()));
});
