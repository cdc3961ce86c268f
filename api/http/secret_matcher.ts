/** Comparing a secret with what a client sent. @module */

const encoder = new TextEncoder();

/**
 * Makes a comparison whose time depends on the candidate's length only: how
 * much of a guess is right can't be measured.
 *
 * @example
 * ```ts
 * import { createSecretMatcher } from "./secret_matcher.ts";
 * import { assert } from "@std/assert";
 *
 * const isSecret = createSecretMatcher("s3cret");
 * assert(isSecret("s3cret") && !isSecret("s3cre"));
 * ```
 */
export function createSecretMatcher(
  secret: string,
): (candidate: string) => boolean {
  const expected = encoder.encode(secret);
  return (candidate) => {
    const given = encoder.encode(candidate);
    let difference = given.length ^ expected.length;
    for (let i = 0; i < given.length; i++) {
      difference |= given[i]! ^ expected[i % expected.length]!;
    }
    return difference === 0;
  };
}
