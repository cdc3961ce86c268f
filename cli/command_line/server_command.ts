/** A server as a command: `sig api`, `sig web`. @module */

import type { ServerProgram } from "@sig/api/server";
import type { LoadedCommand } from "./command.ts";
import { writeResult } from "../output/write.ts";

/** The command that starts a server until it is stopped. */
export function serverCommand(
  name: string,
  program: ServerProgram,
): LoadedCommand {
  return {
    flags: program.flags,
    examples: program.examples.map((line) =>
      line.replace(program.name, `sig ${name}`)
    ),
    endless: true,
    async run(call) {
      const { createServerIo, serveUntilStopped } = await import(
        "@sig/api/server"
      );
      const io = { ...createServerIo(), ...call.io };
      const startup = await program.start(call, io);
      return await serveUntilStopped(startup, io, (url) => {
        writeResult(call, { url }, `${url}\n`);
      });
    },
  };
}
