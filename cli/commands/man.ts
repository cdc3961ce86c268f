import type { Command } from "../command_line/command.ts";
import { writeJson } from "../command_line/output.ts";

/**
 * `sig man`
 *
 * @param commands The table of all commands, which this one is in too.
 * @param version The version of the program.
 */
export function createMan(
  commands: () => readonly Command[],
  version: string,
): Command {
  return {
    name: "man",
    summary: "print the manual page",
    description: "All commands with their flags, as roff for man.",
    flags: [],
    examples: [
      "sig man > /usr/local/share/man/man1/sig.1",
    ],
    async run(call) {
      const { manualPage } = await import("../shell/manual_page.ts");
      const edition = { version, date: call.io.now() };
      const page = manualPage(commands(), edition);
      if (call.format === "json") writeJson(call.io, { page });
      else call.io.stdout(page);
      return 0;
    },
  };
}
