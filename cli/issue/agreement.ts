/** What an operator may not have meant. @module */

import { SigError } from "@sig/core";
import type { Call } from "../command_line/command.ts";
import { safe, warn } from "../command_line/output.ts";

/**
 * Asks about each doubt on a terminal; warns elsewhere, where nobody answers.
 *
 * @throws {SigError} `confirmation_required` when the answer is no.
 */
export async function requireAgreement(
  call: Call,
  doubts: readonly string[],
): Promise<void> {
  const isAsked = canAsk(call);
  for (const doubt of doubts) {
    if (!isAsked) warn(call, doubt);
    else if (!await call.io.ask?.(safe(`${doubt}. Append it all the same?`))) {
      throw new SigError(
        "confirmation_required",
        `Cannot append: nobody has agreed: ${doubt}`,
        { context: { hint: "Nothing was written." } },
      );
    }
  }
}

/** Whether somebody at the terminal can answer, and has not said `--yes`. */
export function canAsk(call: Call): boolean {
  const { format, io } = call;
  return !call.on("yes") && format === "text" && io.isTerminal("stdin") &&
    io.isTerminal("stdout") && io.ask !== undefined;
}

/**
 * Asks on a terminal; elsewhere nobody can answer, and `--yes` is needed.
 *
 * @throws {SigError} `confirmation_required`.
 */
export async function requireYes(
  call: Call,
  question: string,
  { refusal, hint }: { readonly refusal: string; readonly hint: string },
): Promise<void> {
  if (call.on("yes")) return;
  if (canAsk(call) && await call.io.ask?.(question)) return;
  throw new SigError("confirmation_required", refusal, {
    context: { flag: "--yes", hint },
  });
}
