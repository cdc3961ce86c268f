/** Everything that is wrong with a request's body. @module */

import { escapeInvisible, type Issue, SigError } from "@sig/core";

/** Faults listed at most: a body can hold more of them than an answer should. */
const MAX_FAULTS = 100;

interface Fault extends Issue {
  /** The exact error, where there is one beside "this field is wrong". */
  readonly error?: SigError;
}

/** Collects faults, and says them as one error (docs/reference/errors.md). */
export class Faults {
  readonly #faults: Fault[] = [];

  /** Whether no more faults are wanted. */
  get full(): boolean {
    return this.#faults.length >= MAX_FAULTS;
  }

  /** Notes what is missing or wrong. */
  note(
    pointer: string,
    code: "missing_field" | "invalid_field",
    detail: string,
  ): undefined {
    if (!this.full) this.#faults.push({ pointer, code, detail });
  }

  /** Notes what core or the consumer refuse, with their own code. */
  noteError(pointer: string, error: SigError): undefined {
    if (this.full) return;
    const { code, message: detail } = error;
    this.#faults.push({ pointer, code, detail, error });
  }

  /**
   * Throws when there are faults.
   *
   * @throws {SigError} the exact code when it is the only fault, else
   * `invalid_request` with all of them in `context.errors`.
   */
  throwIfAny(): void {
    const [first, ...more] = this.#faults;
    if (first === undefined) return;
    const { error, pointer } = first;
    if (error !== undefined && more.length === 0) {
      throw new SigError(error.code, error, {
        // Its own pointer would be relative to the value alone.
        context: { ...error.context, pointer },
        cause: error,
      });
    }
    const errors = this.#faults.map(({ pointer, code, detail }) => ({
      pointer,
      code,
      detail,
    }));
    // The pointer may hold a name that somebody else chose.
    const place = pointer === "" ? "the body" : escapeInvisible(pointer);
    const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
    throw new SigError(
      "invalid_request",
      `Cannot read request: ${place}: ${first.detail}${others}`,
      { context: { pointer, errors } },
    );
  }
}
