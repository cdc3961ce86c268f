/** The flags that select a list of people, and how it is read. @module */

import {
  oneOf,
  optional,
  usageError,
  type Values,
  type ValueType,
} from "@sig/api/program";
import type { DesiredRelationship } from "@sig/issuer";
import type { Call } from "../command_line/command.ts";
import { input } from "../command_line/values.ts";
import { readInput } from "../terminal/read_input.ts";

/** Maximum size of a list in bytes; 10,000 people take about 2 MB. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** `--columns`, the columns of headers with other names. */
const columns: ValueType<ReadonlyMap<string, string>> = {
  placeholder: "HEADER=COLUMN,…",
  parse(text, flag) {
    const pairs = text.split(",").map((pair) => {
      const at = pair.lastIndexOf("=");
      if (at > 0) {
        return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
      }
      throw usageError(`${flag} must be HEADER=COLUMN, separated by commas`, {
        flag,
        hint:
          'For example: --columns "E-Mail=person,Team=": an empty name ignores a column.',
      });
    });
    return new Map(pairs);
  },
};

/** Flags that name a list and its form. */
export const READING_FLAGS = {
  from: optional(input, "list of people; - is standard input"),
  input: optional(
    oneOf("csv", "json", "yaml"),
    "format of the list (default: by the name's ending)",
  ),
  columns: optional(columns, "read headers with other names"),
  dates: optional(
    oneOf("dmy", "mdy"),
    "read dates such as 02.03.2027 as day first or month first",
  ),
};

/** The values of {@linkcode READING_FLAGS}. */
export type ReadingValues = Values<typeof READING_FLAGS>;

/**
 * Reads the rows of the list that the flags name.
 *
 * @throws {SigError} `invalid_request` without `--from` or a known format, and
 * as `readPeople`.
 */
export async function readDesired(
  { flags, io }: Pick<Call<ReadingValues>, "flags" | "io">,
): Promise<readonly DesiredRelationship[]> {
  const { columns, dates, from: path } = flags;
  if (path === undefined) {
    throw usageError("--from is required", {
      flag: "--from",
      hint: "For example: --from people.csv.",
    });
  }
  const { formatOf, readPeople } = await import("../people/read_people.ts");
  const format = flags.input ?? formatOf(path);
  if (format === undefined) {
    throw usageError("--input is required where no file name tells it", {
      flag: "--input",
      hint: "One of csv, json, yaml. A spreadsheet is saved as CSV.",
    });
  }
  const bytes = await readInput(io, path, MAX_LIST_BYTES);
  return await readPeople(bytes, format, { columns, dates });
}
