import { webProgram } from "@sig/web/program";
import type { Command } from "../command.ts";
import { serverCommand } from "../server_command.ts";

/** `sig web` */
export const web: Command = serverCommand("web", webProgram);
