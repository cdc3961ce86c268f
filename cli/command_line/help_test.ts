import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../commands.ts";
import { workspaceTest as test } from "../testdata/workspace.ts";

test("help fits a terminal of 40 to 200 columns without breaking words", async (workspace) => {
  const names = COMMANDS.map(({ name }) => name);
  const wordsOf = (text: string) =>
    text.split(/\s+/).filter((word) => word !== "\\").join(" ");
  for (const words of [[], ...names.map((name) => name.split(" "))]) {
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
        // At 40 columns a wider word has its own line; samples are not wrapped.
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
