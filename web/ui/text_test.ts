import { assertEquals } from "@std/assert";
import { insecureFlag } from "./text.ts";

Deno.test("commands about issuers in closed networks have --allow-insecure, others do not", () => {
  for (
    const host of [
      ...["127.0.0.1%3A8788", "localhost%3A8080", "members%3A8080", "members"],
      ...["a.localhost", "a.internal", "a.local", "a.lan%3A81", "a.corp"],
    ]
  ) assertEquals(insecureFlag(`did:web:${host}`), ["--allow-insecure"], host);
  for (const host of ["acme.example", "acme.example%3A8443", "lan.example"]) {
    assertEquals(insecureFlag(`did:web:${host}`), [], host);
  }
});
