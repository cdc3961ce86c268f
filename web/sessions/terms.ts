/** Under which word of whom a session began. @module */

/** Where somebody logged in, and what was required there. */
export interface Terms {
  /** The origin that the person signed for. */
  readonly audience: string;
  /** The issuer whose word was needed, or null. */
  readonly issuer: string | null;
  /** What it had to say, `key=value` each. */
  readonly require: readonly string[];
}

/**
 * Whether a login of then is enough for what is required now: it was by the
 * word of the same issuer, and at least as much was asked. Somebody who asks for
 * no more than the subject takes everybody.
 */
export function isEnough(then: Terms, now: Terms): boolean {
  if (now.issuer === null) return true;
  return then.issuer === now.issuer &&
    now.require.every((each) => then.require.includes(each));
}
