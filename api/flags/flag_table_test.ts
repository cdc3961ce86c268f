import { assertEquals } from "@std/assert";
import { flagTable, wordTable } from "./flag_table.ts";

Deno.test("what flags do stands in one column, with what they demand", () => {
  assertEquals(
    flagTable([
      { name: "addr", value: "HOST:PORT", help: "where", required: true },
      { name: "host", value: "NAME", help: "name", repeat: true },
      { name: "public", help: "all" },
    ]),
    [
      "  --addr HOST:PORT  where (required)",
      "  --host NAME       name (repeatable)",
      "  --public          all",
    ].join("\n"),
  );
});

Deno.test("no words make no table", () => {
  assertEquals(wordTable([]), "");
});
