import type { Command } from "../command.ts";
import { apiProgram } from "@sig/api/program";
import { serverCommand } from "../server_command.ts";

/** `sig api` */
export const api: Command = serverCommand("api", apiProgram);
