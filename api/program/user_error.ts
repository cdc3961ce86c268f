/** Errors as the user of a program can act on them. @module */

import { isSigError, SigError } from "@sig/core";

/** The option of the libraries, and the flag of the programs. */
const OPTION = "set allowPrivate";
const FLAG = "use --allow-insecure";

/**
 * Converts errors that Deno or `writeAll` throws for a missing permission, a
 * missing module and a full disk to a `SigError` with the next step, and names
 * the flag where the libraries name their option. Returns anything else
 * unchanged.
 *
 * @example
 * ```ts
 * import { toUserError } from "@sig/api/program";
 * import { isSigError } from "@sig/core";
 * import { assert } from "@std/assert";
 *
 * const error = new Deno.errors.NotCapable("run again with --allow-net");
 * assert(isSigError(toUserError(error), "invalid_request"));
 * ```
 */
export function toUserError(thrown: unknown): unknown {
  if (isSigError(thrown)) {
    if (!thrown.hint?.includes(OPTION)) return thrown;
    const hint = thrown.hint.replace(OPTION, FLAG);
    const context = { ...thrown.context, hint };
    return new SigError(thrown.code, {
      ...thrown,
      context,
      cause: thrown.cause,
    });
  }
  if (!(thrown instanceof Error)) return thrown;
  const cause: Error & { readonly code?: unknown } = thrown;
  if (cause.name === "NotCapable") {
    const flag = /--allow-[a-z]+/.exec(cause.message)?.[0];
    const needed = /^.*?(?=, run again|$)/s.exec(cause.message)?.[0];
    return new SigError("invalid_request", {
      action: "run",
      reason: `the program lacks a permission: ${needed}`,
      context: flag === undefined ? {} : { hint: `Run it with ${flag}.` },
      cause,
    });
  }
  if (cause.name === "OutputFailed") {
    return new SigError("write_failed", {
      action: "write the result",
      reason: "standard output is closed or full",
      context: {
        hint: "The command may have taken effect: check before you rerun it.",
      },
      cause,
    });
  }
  if (cause.code !== "ERR_MODULE_NOT_FOUND") return cause;
  // The first line names the module; the others are internals of Deno.
  const what = /^[^\n]*/.exec(cause.message)?.[0] ?? "";
  return what.includes('"file:')
    ? new SigError("not_found", {
      action: "load the program",
      reason: `a file of it is missing: ${what}`,
      context: {
        hint: "Restore the checkout, and run deno task install again.",
      },
      cause,
    })
    : new SigError("fetch_failed", {
      action: "load the program",
      reason: `a part of it is not in Deno's cache: ${what}`,
      context: { hint: "Run it once with access to the network." },
      cause,
    });
}
