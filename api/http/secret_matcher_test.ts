import { assertEquals } from "@std/assert";
import { createSecretMatcher } from "./secret_matcher.ts";

Deno.test("a secret matches itself and nothing else", () => {
  const isSecret = createSecretMatcher("s3cret");
  assertEquals(isSecret("s3cret"), true);
  const near = ["", "s", "s3cre", "S3cret", "s3creT", "s3crets", " s3cret"];
  for (const other of [...near, "s3crets3cret", "t3cret", "s3cret\0", "é"]) {
    assertEquals(isSecret(other), false, other);
  }
});
