import { assertEquals } from "@std/assert";
import { flagRow } from "./flag_row.ts";

Deno.test("what a flag does is said with what it demands", () => {
  assertEquals(
    [
      {
        name: "addr",
        value: "HOST:PORT",
        help: "where",
        required: true as const,
      },
      { name: "host", value: "NAME", help: "name", repeat: true as const },
      { name: "public", help: "all" },
    ].map(flagRow),
    [
      ["--addr HOST:PORT", "where (required)"],
      ["--host NAME", "name (repeatable)"],
      ["--public", "all"],
    ],
  );
});
