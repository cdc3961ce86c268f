import { webProgram } from "@sig/web/program";
import type { Command } from "../command_line/command.ts";
import { serverCommand } from "../command_line/server_command.ts";

/** `sig web` */
export const web: Command = serverCommand("web", webProgram);
