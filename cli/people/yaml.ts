/** YAML that says what JSON could say. @module */

import { parse } from "@std/yaml/parse";

/** As in JSON (docs/protocol.md §2.3); a list and its rows are two of them. */
const MAX_DEPTH = 16;
/** Values, each counted as often as it is meant: 10,000 people have 200,000. */
const MAX_VALUES = 2_000_000;

/**
 * Parses YAML of the core schema. An alias is its value once more, so a few
 * lines can mean more than any memory holds, or contain themselves: that is
 * refused before anybody walks through it, as are numbers that JSON has not
 * or that were rounded.
 *
 * @param refuse Makes the error out of a reason, which quotes nothing.
 */
export function readYaml(text: string, refuse: (why: string) => Error) {
  let value: unknown;
  try {
    value = parse(text, { schema: "core" });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The parser's own text quotes the input.
    const line = /line (\d+)/.exec(error.message)?.[1];
    throw refuse(
      `it is no YAML${line === undefined ? "" : `, from line ${line} on`}`,
    );
  }
  let left = MAX_VALUES;
  const walk = (each: unknown, depth: number): void => {
    if (--left < 0) throw refuse(`it has more than ${MAX_VALUES} values`);
    if (typeof each === "number" && !isExact(each)) {
      throw refuse("it has a number that JSON can't say exactly");
    }
    if (typeof each !== "object" || each === null) return;
    if (depth === MAX_DEPTH) throw refuse("it is nested too deeply");
    for (const inner of Object.values(each)) walk(inner, depth + 1);
  };
  walk(value, 0);
  return value;
}

function isExact(number: number): boolean {
  return Number.isFinite(number) &&
    (!Number.isInteger(number) || Number.isSafeInteger(number));
}
