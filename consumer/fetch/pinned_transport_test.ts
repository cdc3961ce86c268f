import { assertEquals } from "@std/assert";
import { acceptsAnyStream } from "./pinned_transport.ts";

Deno.test("a connection is paced if node:http accepts one that is not a socket", () => {
  const rows = [
    [undefined, true],
    ["2.9.0", true],
    ["2.10.1", true],
    ["3.0.0", true],
    ["2.8.9", false],
    ["2.7.11", false],
    ["1.46.3", false],
  ] as const;
  for (const [version, expected] of rows) {
    assertEquals(acceptsAnyStream(version), expected, String(version));
  }
});
