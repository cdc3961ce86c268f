/** The answer by the command line. @module */

import type { ParsedInvitation } from "../libraries/mod.ts";
import { commandLine } from "../parts/command_line.ts";
import { Copyable } from "../parts/copy.tsx";
import { shortened } from "../parts/text.ts";

/** What to type; the whole invitation is copied. */
export function OnCommandLine(
  { invitation: { text } }: { readonly invitation: ParsedInvitation },
) {
  const command = (invitation: string) =>
    commandLine(["sig", "accept", invitation, "--out", "answer.json"]) ?? "";
  return (
    <Copyable
      visible={command(shortened(text, 24))}
      copied={command(text)}
      what="the command"
    />
  );
}
