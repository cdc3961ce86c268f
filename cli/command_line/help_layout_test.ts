import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../commands.ts";
import { inWorkspace } from "../testdata/workspace.ts";
import { example, isSample, partsOf, twoColumns } from "./help_layout.ts";

Deno.test("help fits a terminal of 40 to 200 columns and breaks no word", async () => {
  await inWorkspace(async (workspace) => {
    const names = COMMANDS.flatMap(({ name, aliases }) => [
      name,
      ...aliases ?? [],
    ]);
    const wordsOf = (text: string) =>
      text.split(/\s+/).filter((word) => word !== "\\").join(" ");
    for (const words of [[], ...names.map((name) => [name])]) {
      const help = (columns?: number) =>
        workspace.sig([...words, "--help"], {
          terminals: columns === undefined ? [] : ["stdout"],
          io: { columns: () => columns },
        });
      const whole = await help();
      for (const width of [40, 60, 80, 120, 200]) {
        const { code, stdout } = await help(width);
        assertEquals(code, 0);
        assertEquals(wordsOf(stdout), wordsOf(whole.stdout));
        for (const line of stdout.split("\n")) {
          // At 40 a word may be wider, alone in its line; a sample stays.
          const isWhole = words[0] === "test" ||
            /^ *(?:\S+|"[^"]*")(?: \\)?$/.test(line);
          assert(
            line.length <= width || width === 40 && isWhole,
            `${words} at ${width}: ${line}`,
          );
        }
      }
    }
  });
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
