import { assertEquals } from "@std/assert";
import { findForeignSubject } from "./authzen.ts";

Deno.test("a subject of type user may have any id, one of type did only a DID; others are foreign", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["user", "did:web:alice.example", true],
    ["user", "alice", true],
    ["agent", "alice", true],
    ["did", "did:web:alice.example", true],
    ["did", "did:key:z6Mk", true],
    ["did", "alice", false],
    ["did", "did:web:", false],
    ["did", "DID:web:alice.example", false],
    ["group", "did:web:alice.example", false],
    ["USER", "alice", false],
    ["constructor", "alice", false],
    ["", "alice", false],
  ];
  for (const [type, id, isKnown] of rows) {
    const why = findForeignSubject({ type, id });
    assertEquals(why === undefined, isKnown, `${type} ${id}: ${why}`);
  }
});
