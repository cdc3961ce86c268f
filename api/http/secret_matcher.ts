/** Comparing a secret with what a client sent. @module */

const encoder = new TextEncoder();

/** Makes a comparison whose time depends on the candidate's length only. */
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
