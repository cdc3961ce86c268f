import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { requestIdOf } from "./request_id.ts";

const of = (id: string) => requestIdOf(new Headers({ "x-request-id": id }));

Deno.test("any legal header value of up to 1,024 characters is kept", () => {
  const plain = ["a", "a b", "!~", '{"a":1}', "a, b", "a\tb"];
  const bytes = ["é", "\u0080", "Ã©", "\u00ff"];
  for (const id of [...plain, ...bytes, "x".repeat(256), "x".repeat(1_024)]) {
    assertEquals(of(id), id);
  }
});

Deno.test("anything else gets a fresh id", () => {
  for (const id of ["", "x".repeat(1_025), "a\u007fb", "a\u0001b"]) {
    assertNotEquals(of(id), id);
    assertMatch(of(id), /^[0-9a-f-]{36}$/);
  }
  assertNotEquals(requestIdOf(new Headers()), requestIdOf(new Headers()));
});
