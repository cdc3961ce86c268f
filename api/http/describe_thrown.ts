/** What was thrown, for the operator's log. @module */

/** The stack, which begins with name and message; the kind of a non-error. */
export function describeThrown(thrown: unknown): string {
  return thrown instanceof Error
    ? thrown.stack ?? `${thrown.name}: ${thrown.message}`
    : typeof thrown;
}
