import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { displayWidth } from "@sig/api/program";
import { loadCommands } from "../commands.ts";
import { flagsOf } from "./parse_command_line.ts";
import { manualPage } from "./manual_page.ts";
import { lacks, run, runWell, tempFolder } from "../../tests/kit/process.ts";

const COMMANDS = await loadCommands();

const PAGE = manualPage(COMMANDS, {
  version: "0.1.0",
  date: new Date("2026-01-31T09:00:00Z"),
});

async function withPage(work: (file: string) => Promise<void>): Promise<void> {
  await using folder = await tempFolder();
  await Deno.writeTextFile(`${folder.path}/sig.1`, PAGE);
  await work(`${folder.path}/sig.1`);
}

Deno.test({
  name: "mandoc reports no problem in the manual page",
  ignore: lacks("mandoc"),
  async fn() {
    await withPage(async (file) => {
      assertEquals(
        await run("mandoc", ["-T", "lint", "-W", "warning", file]),
        { code: 0, stdout: "", stderr: "" },
      );
    });
  },
});

Deno.test({
  name: "man shows every command and flag at 60 and at 120 columns",
  ignore: lacks("man"),
  async fn() {
    await withPage(async (file) => {
      for (const width of [60, 120]) {
        const said = await runWell("man", ["--warnings", "-l", file], {
          env: {
            ...{ MANWIDTH: `${width}`, MANPAGER: "cat" },
            ...{ LC_ALL: "C.UTF-8", TERM: "" },
          },
        });
        const lines = said.split("\n");
        for (const command of COMMANDS) {
          const start = lines.indexOf(`   ${command.name}`);
          assert(start > 0, command.name);
          const end = lines.findIndex((line, at) =>
            at > start && /^ {0,3}\S/.test(line)
          );
          const part = lines.slice(start, end).join("\n");
          for (const { name } of flagsOf(command)) {
            assertStringIncludes(part, `\n       --${name}`);
          }
          // Copied text equals the text to type.
          for (const example of command.examples) {
            assertStringIncludes(part, `       ${example}\n`);
          }
        }
        const prose = lines.filter((line) => !/^ +sig |^sig /.test(line));
        for (const line of prose) assert(displayWidth(line) <= width, line);
      }
    });
  },
});

Deno.test("texts of the table are not interpreted as roff requests", () => {
  const page = manualPage([{
    name: "x",
    summary: ".so /etc/passwd",
    description: "'br\n\n.so y \\n(.g",
    flags: [{ name: "a-b", value: "'~^…'", help: "\\fBbold" }],
    examples: [".so z"],
    run: () => Promise.resolve(0),
  }], { version: "1", date: new Date(0) });
  assertEquals(page.match(/^[.'](?:so|br x).*|\\n.*|\\f.*/gm), null);
  assertStringIncludes(page, "--a\\-b".replace("--", "\\-\\-"));
  assertStringIncludes(page, "\\[u2026]");
});

Deno.test("samples in a description are not filled", () => {
  assertStringIncludes(
    PAGE,
    "\n.EX\n  source: ./acme.example\n  cases:\n    \\- name: alice may deploy\n",
  );
});
