import type { CommandSpec } from "../command_line/command.ts";
import { apiProgram } from "@sig/api/program";
import { serverCommand } from "../command_line/server_command.ts";

/** `sig api` */
export const api: CommandSpec = serverCommand("api", apiProgram);
