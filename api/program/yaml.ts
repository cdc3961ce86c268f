/** YAML that JSON could express. @module */

/** The same depth as in JSON (docs/protocol.md §2.3). */
const MAX_DEPTH = 16;
/**
 * Maximum number of values after aliases expand; a list of 10,000 people has
 * 200,000.
 */
const MAX_VALUES = 2_000_000;
/** A number as in JSON (RFC 8259 §6). */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?$/i;

/**
 * Parses YAML of the core schema. Aliases can expand a few lines beyond any
 * memory, or contain themselves, so expanded values and depth are limited.
 * Numbers that JSON can't represent exactly are refused, as are other spellings
 * than JSON's: `017` is 15 in YAML 1.1 and 17 in YAML 1.2.
 *
 * @param refuse Creates the error from a reason, which never quotes the input.
 */
export async function parseYaml(
  text: string,
  refuse: (why: string) => Error,
): Promise<unknown> {
  const { parse } = await import("@std/yaml/parse");
  let value: unknown;
  let spelled: unknown;
  try {
    value = parse(text, { schema: "core" });
    // The same structure, in which every value is text.
    spelled = parse(text, { schema: "failsafe" });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The parser's message quotes the input.
    const line = /line (\d+)/.exec(error.message)?.[1];
    throw refuse(`is not valid YAML${line ? ` (line ${line})` : ""}`);
  }
  let left = MAX_VALUES;
  const walk = (each: unknown, spelling: unknown, depth: number): void => {
    if (--left < 0) throw refuse(`has more than ${MAX_VALUES} values`);
    if (typeof each === "number") {
      if (!isExact(each)) {
        throw refuse("has a number that JSON can't say exactly");
      }
      if (!NUMBER.test(`${spelling}`)) throw refuse(MISSPELT);
    }
    if (typeof each !== "object" || each === null) return;
    if (depth === MAX_DEPTH) throw refuse("is nested too deeply");
    const inside = spelling as { readonly [name: string]: unknown };
    for (const [name, inner] of Object.entries(each)) {
      if (!Object.hasOwn(inside, name)) throw refuse(MISSPELT);
      walk(inner, inside[name], depth + 1);
    }
  };
  walk(value, spelled, 0);
  return value;
}

const MISSPELT = "has a number that is not written as in JSON, such as 017";

function isExact(number: number): boolean {
  return Number.isFinite(number) &&
    (!Number.isInteger(number) || Number.isSafeInteger(number));
}
