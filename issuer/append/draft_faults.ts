/** The faults of a batch of drafts. @module */

import { isSigError, type Issue, SigError } from "@sig/core";
import { withContext } from "@sig/core/internal";

/** Faults of which a draft, and not the disk or the feed, is the cause. */
const CAUSED_BY_DRAFT: readonly string[] = ["usage", "invalid", "conflict"];

/** Collects faults up to a number; any other error is thrown at once. */
export class DraftFaults {
  readonly #drafts: number;
  readonly #most: number;
  readonly #issues: (Issue & { readonly draft: number })[] = [];
  #first: SigError | undefined;

  constructor(drafts: number, most = 1) {
    this.#drafts = drafts;
    this.#most = most;
  }

  /** Notes why a draft is refused. */
  add(error: unknown, draft: number): void {
    if (!isSigError(error)) throw error;
    const { category, code, context, message } = error;
    const placed = this.#drafts === 1 ? error : withContext(error, { draft });
    if (!CAUSED_BY_DRAFT.includes(category)) throw placed;
    this.#first ??= placed;
    const pointer = context.pointer ?? "";
    const own: Issue = { pointer, code, detail: message };
    for (const issue of context.errors ?? [own]) {
      const place = `/${draft}${issue.pointer}`;
      this.#issues.push({ ...issue, pointer: place, draft });
    }
    if (this.#issues.length >= this.#most) this.throwIfAny();
  }

  /** @throws {SigError} the first fault; all of them in `context.errors`. */
  throwIfAny(): void {
    const first = this.#first;
    if (first === undefined) return;
    if (this.#most === 1) throw first;
    throw new SigError(first.code, first.message, {
      context: { ...first.context, errors: this.#issues.slice(0, this.#most) },
      cause: first.cause,
    });
  }
}
