/** What an operator may not have meant. @module */

import { SigError } from "@sig/core";
import type { Call } from "../command_line/command.ts";
import { safe, warn } from "../command_line/output.ts";

/**
 * Asks about each doubt on a terminal; warns elsewhere, where nobody answers.
 *
 * @throws {SigError} `confirmation_required` when the answer is no.
 */
export function requireAgreement(call: Call, doubts: readonly string[]): void {
  const { io } = call;
  const canAsk = call.format === "text" && io.isTerminal("stdin") &&
    io.isTerminal("stdout");
  for (const doubt of doubts) {
    if (!canAsk || io.ask === undefined) warn(call, doubt);
    else if (!io.ask(safe(`${doubt}. Append it all the same?`))) {
      throw new SigError(
        "confirmation_required",
        `Cannot append: nobody has agreed: ${doubt}`,
        { context: { hint: "Nothing was written." } },
      );
    }
  }
}
