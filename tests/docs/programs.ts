/** The programs that the documents' commands need. @module */

import { hasProgram } from "../kit/process.ts";

const PROGRAMS = [
  ...["bash", "curl", "openssl", "grep", "sed", "sha256sum", "tar"],
  ...["git", "ssh", "ssh-add", "ssh-agent", "ssh-keygen", "sshd"],
];

/**
 * Returns the programs that this machine lacks; `linux` if it runs another
 * system.
 */
export function missingPrograms(): readonly string[] {
  if (Deno.build.os !== "linux") return ["linux"];
  return PROGRAMS.filter((program) => !hasProgram(program));
}
