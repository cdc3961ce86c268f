/**
 * Compares a feed with the roots in the statements of a recovery key
 * (docs/protocol.md §14.2).
 *
 * @module
 */

import { SigError } from "@sig/core";
import { encodeBase64Url } from "@sig/jose/internal";
import type { Recovery, StatementClaims } from "@sig/jose/recovery";
import { LineTree } from "../proofs/feed_tree.ts";

/** Receives the lines of a feed from the first one on. */
export class StatementRoots {
  readonly #lines: LineTree;
  readonly #isShared: boolean;
  /** The statements to compare, the smallest size first. */
  readonly #left: StatementClaims[];

  /** @param tree Already receives each line, before it is added here. */
  constructor({ statements }: Recovery, tree?: LineTree) {
    this.#isShared = tree !== undefined;
    this.#lines = tree ?? new LineTree();
    this.#left = statements.toSorted((a, b) => a.size - b.size);
    this.#compare();
  }

  /**
   * Adds the next line, without its LF.
   *
   * @throws {SigError} `recovery_contradicted` if the lines so far are not
   * those of a statement.
   */
  add(line: Uint8Array): void {
    if (this.#left.length === 0) return;
    if (!this.#isShared) this.#lines.add(line);
    this.#compare();
  }

  /** @throws {SigError} `recovery_contradicted` for a feed with fewer lines. */
  requireAll(): void {
    const [next] = this.#left;
    if (next === undefined) return;
    throw contradicted(
      next,
      `the feed has ${this.#lines.size} events, fewer than`,
    );
  }

  #compare(): void {
    while (this.#left[0]?.size === this.#lines.size) {
      const next = this.#left[0];
      if (encodeBase64Url(this.#lines.root()) !== next.root) {
        throw contradicted(next, "the feed does not begin with");
      }
      this.#left.shift();
    }
  }
}

function contradicted({ n, size }: StatementClaims, why: string): SigError {
  return new SigError("recovery_contradicted", {
    action: "use feed",
    reason: `${why} the ${size} events of statement ${n}`,
    context: {
      statement: n,
      hint: "Ask the issuer by another way which feed is its own.",
    },
  });
}
