import { assertEquals } from "@std/assert";
import { example, isSample, partsOf, twoColumns } from "./help_layout.ts";

Deno.test("words and their meanings stand in one line each where there is no terminal", () => {
  assertEquals(
    twoColumns([["--addr HOST:PORT", "where"], ["--ok", "yes"]]).split("\n"),
    ["  --addr HOST:PORT  where", "  --ok              yes"],
  );
});

Deno.test("words too long for a column beside their meanings stand above them", () => {
  const rows = [["--addr HOST:PORT", "where to listen"], [
    "--ok",
    "yes",
  ]] as const;
  assertEquals(
    twoColumns(rows, 27).split("\n"),
    ["  --addr HOST:PORT", "        where to listen", "  --ok  yes"],
  );
  assertEquals(
    twoColumns(rows, 40).split("\n"),
    ["  --addr HOST:PORT  where to listen", "  --ok              yes"],
  );
});

Deno.test("an example that goes on below is one command for a shell", () => {
  const line = 'echo --reason "seen by nobody" --dir acme.example --yes';
  assertEquals(
    example(line, 40).split("\n"),
    [
      '  echo --reason "seen by nobody" \\',
      "    --dir acme.example --yes",
    ],
  );
  assertEquals(example(line), `  ${line}`);
});

Deno.test("a description is filled, but for what is shown in it", () => {
  const parts = partsOf("One\ntwo:\n  a: 1\n  b: 2\nThree\n\nfour");
  assertEquals(parts, ["One two:", "  a: 1\n  b: 2", "Three", "", "four"]);
  assertEquals(parts.map(isSample), [false, true, false, false, false]);
});
