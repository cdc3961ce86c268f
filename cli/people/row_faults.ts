/** Every fault of a list at once, each with its row and column. @module */

import { type Issue, SigError } from "@sig/core";

/** Faults that are told of at the most. */
const MAX_TOLD = 100;

/** Collects the faults of a list. */
export class RowFaults {
  readonly #faults: (Issue & { row: number; column?: string })[] = [];

  /** Notes a fault; answers with undefined for the value that is missing. */
  add(row: number, column: string, detail: string): undefined {
    this.#faults.push({
      pointer: `/${row}/${column}`,
      row,
      column,
      code: "invalid_field",
      detail: `row ${row}, column ${column}: ${detail}`,
    });
  }

  /** Notes a row that can't be told apart into columns. */
  addRow(row: number, detail: string): undefined {
    this.#faults.push({
      pointer: `/${row}`,
      row,
      code: "invalid_field",
      detail: `row ${row}: ${detail}`,
    });
  }

  /** @throws {SigError} `invalid_field` when there is any. */
  throwIfAny(): void {
    const [first] = this.#faults;
    if (first === undefined) return;
    const { row, column, detail } = first;
    const more = this.#faults.length - 1;
    throw new SigError(
      "invalid_field",
      `Cannot read list: ${detail}${
        more === 0 ? "" : ` (and ${more} more fault${more === 1 ? "" : "s"})`
      }`,
      {
        context: {
          row,
          ...(column === undefined ? {} : { column }),
          ...(more === 0 ? {} : { errors: this.#faults.slice(0, MAX_TOLD) }),
          hint: "Nothing was written. Mend the list and repeat the command.",
        },
      },
    );
  }
}
