/** Parses YAML that JSON could express. @module */

import { parse } from "@std/yaml/parse";

/**
 * The same depth as in JSON (docs/protocol.md §2.3); the list and its rows are
 * two levels.
 */
const MAX_DEPTH = 16;
/**
 * Maximum number of values after aliases expand; a list of 10,000 people has
 * 200,000.
 */
const MAX_VALUES = 2_000_000;

/**
 * Parses YAML of the core schema. Aliases can expand a few lines beyond any
 * memory, or contain themselves, so expanded values and depth are limited.
 * Numbers that JSON can't represent exactly are refused.
 *
 * @param refuse Creates the error from a reason, which never quotes the input.
 */
export function readYaml(text: string, refuse: (why: string) => Error) {
  let value: unknown;
  try {
    value = parse(text, { schema: "core" });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The parser's message quotes the input.
    const line = /line (\d+)/.exec(error.message)?.[1];
    throw refuse(
      `it is not valid YAML${
        line === undefined ? "" : `, from line ${line} on`
      }`,
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
