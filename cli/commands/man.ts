import {
  type Command,
  type LoadedCommand,
  typedCommand,
} from "../command_line/command.ts";
import { writeResult } from "../output/write.ts";
import { VERSION } from "../terminal/version.ts";

/**
 * `sig man`
 *
 * @param loadCommands Loads all commands, this one too.
 */
export function createMan(
  loadCommands: () => Promise<readonly Command[]>,
): LoadedCommand {
  return typedCommand({
    description: "All commands with their flags, as roff for man.",
    flags: {},
    examples: ["sig man > /usr/local/share/man/man1/sig.1"],
    async run(call) {
      const { manualPage } = await import("../command_line/manual_page.ts");
      const edition = { version: VERSION, date: call.io.now() };
      const page = manualPage(await loadCommands(), edition);
      writeResult(call, { page }, page);
      return 0;
    },
  });
}
