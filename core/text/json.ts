/**
 * Strict JSON parsing (docs/protocol.md §2.3): a scan rejects what `JSON.parse`
 * accepts silently, then `JSON.parse` builds the value. It is faster than code
 * here, and its strings are copies: slices of the text would keep every line of
 * a feed in memory as long as a state exists.
 *
 * It is one file because a call to another module for each character is slow.
 *
 * @module
 */

import { DEFAULT_LIMITS } from "./limits.ts";

/** The rule of strict JSON that a text violates. */
export type JsonFault =
  | "utf8"
  | "syntax"
  | "depth"
  | "values"
  | "duplicate"
  | "number"
  | "string";

/**
 * The error of a text that is not strict JSON. Callers convert it to the error
 * code of their context; the message never quotes the text.
 */
export class JsonError extends Error {
  /** Always `JsonError`. */
  override readonly name = "JsonError";
  /** The violated rule. */
  readonly fault: JsonFault;
  /**
   * JSON Pointer to the fault, or to a containing value if longer than 512
   * characters; `""` if unknown. It contains names from the text: escape it
   * before showing it.
   */
  readonly pointer: string;
  /** Whether the text is a JSON object apart from this fault. */
  readonly inObject: boolean;

  /** Creates the error; `message` completes "… is not strict JSON: ". */
  constructor(
    fault: JsonFault,
    pointer: string,
    message: string,
    inObject = false,
  ) {
    super(message);
    this.fault = fault;
    this.pointer = pointer;
    this.inObject = inObject;
  }
}

/** Options of {@linkcode parseJson}. */
export interface ParseJsonOptions {
  /** Maximum nesting of arrays and objects (default: 16). */
  readonly maxDepth?: number;
  /**
   * Maximum number of values at any depth; an empty array or object counts as
   * two (default: no limit). Use it for long texts from untrusted senders: a
   * text over the limit is not built, which could block a server for a second.
   */
  readonly maxValues?: number;
  /** Whether numbers must be written in digits only (default: false). */
  readonly digitsOnly?: boolean;
}

/** A parsed value, with the members that are not spelled as plain integers. */
export interface ParsedJson {
  /** The value. */
  readonly value: unknown;
  /**
   * Names of members of the root object that are numbers with a sign, a point
   * or an exponent (`1.0`, `-0`).
   */
  readonly decimals: ReadonlySet<string>;
}

// `ignoreBOM` keeps a BOM in the text, where JSON rejects it.
const utf8 = /* @__PURE__ */ new TextDecoder("utf-8", {
  fatal: true,
  ignoreBOM: true,
});

/**
 * Parses JSON strictly: UTF-8 without BOM, RFC 8259, no duplicate member names
 * at any depth, limited depth, well-formed strings, no number that overflows
 * and no integer literal outside ±(2^53-1) (docs/protocol.md §2.3).
 *
 * @example Reject texts that `JSON.parse` accepts
 * ```ts
 * import { JsonError, parseJson } from "@sig/core";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(parseJson('{"a":1}'), { a: 1 });
 * assertThrows(() => parseJson('{"a":1,"\\u0061":2}'), JsonError, "twice");
 * assertThrows(() => parseJson("9007199254740993"), JsonError, "2^53-1");
 * ```
 *
 * @throws {JsonError} with the violated rule and its JSON Pointer.
 */
export function parseJson(
  input: string | Uint8Array,
  options?: ParseJsonOptions,
): unknown {
  return parseJsonWithSpelling(input, options).value;
}

/**
 * Parses JSON like {@linkcode parseJson}, and also returns the spelling of the
 * root's numbers: `1.0` and `1` are the same value, but only `1` is a valid
 * sequence (docs/protocol.md §3).
 *
 * @example
 * ```ts
 * import { parseJsonWithSpelling } from "./json.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { value, decimals } = parseJsonWithSpelling('{"a":1,"b":1.0}');
 * assertEquals(value, { a: 1, b: 1 });
 * assertEquals(decimals, new Set(["b"]));
 * ```
 *
 * @throws {JsonError} as {@linkcode parseJson}.
 */
export function parseJsonWithSpelling(
  input: string | Uint8Array,
  options: ParseJsonOptions = {},
): ParsedJson {
  const text = decode(input);
  const {
    maxDepth = DEFAULT_LIMITS.maxJsonDepth,
    maxValues = Infinity,
    digitsOnly = false,
  } = options;
  // A text without escapes that is written in the same way again has no
  // duplicate name, and its numbers are spelled as `isPlain` sees them. Most
  // texts are such; the scan takes longer than all of this.
  if (maxValues === Infinity && !text.includes("\\")) {
    const value = parseIfJson(text);
    if (isPlain(value, maxDepth) && JSON.stringify(value) === text) {
      return { value, decimals: NONE };
    }
  }
  const scan = new Scan(text, { maxDepth, maxValues, digitsOnly });
  const fault = scan.run();
  if (scan.isAborted) throw fault;
  const value = parseSyntax(text);
  if (fault) {
    const { pointer, message } = fault;
    throw new JsonError(fault.fault, pointer, message, scan.startsWithBrace);
  }
  return { value, decimals: scan.decimals };
}

function decode(input: string | Uint8Array): string {
  if (typeof input !== "string") {
    try {
      return utf8.decode(input);
    } catch {
      throw new JsonError("utf8", "", "it is not UTF-8");
    }
  }
  if (!input.isWellFormed()) {
    throw new JsonError("utf8", "", "it holds a lone surrogate");
  }
  return input;
}

/** Returns undefined for a text that is not JSON; the scan finds the fault. */
function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseSyntax(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Only the position is used, because the rest of the message quotes its
    // input. It is at the end, where quoted input can't imitate it.
    const at = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(
      (error as Error).message,
    )?.[1];
    throw new JsonError(
      "syntax",
      "",
      `syntax error${at === undefined ? "" : ` at character ${at}`}`,
    );
  }
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** Integer literals with up to this many digits are always safe. */
const SAFE_DIGITS = 15;
/** Maximum length of a pointer, which may exceed the text otherwise. */
const MAX_POINTER_LENGTH = 512;

const LONE_SURROGATE = "a string holds a lone surrogate";

const NONE: ReadonlySet<string> = /* @__PURE__ */ new Set();

/**
 * Returns whether a value has no number but integers without a sign, and at
 * most `maxDepth` levels.
 */
function isPlain(value: unknown, maxDepth: number): boolean {
  if (typeof value === "number") {
    return Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0);
  }
  if (typeof value !== "object" || value === null) return true;
  if (maxDepth === 0) return false;
  for (const each of Object.values(value)) {
    if (typeof each !== "string" && !isPlain(each, maxDepth - 1)) return false;
  }
  return true;
}

/**
 * A scan of a text that may not be JSON. It only follows strings and brackets,
 * and leaves all other errors to `JSON.parse`.
 */
class Scan {
  /** Names of the root's members that are numbers in a special spelling. */
  readonly decimals: Set<string> = new Set();
  readonly #text: string;
  readonly #rules: Required<ParseJsonOptions>;
  readonly #escapes: boolean;
  /**
   * For each open bracket: the names in an object (undefined for an array), and
   * in `#places` the current name or index.
   */
  readonly #names: (Set<string> | undefined)[] = [];
  readonly #places: (string | number)[] = [];
  #fault: JsonError | undefined;
  /** An upper bound: one, plus one for each comma and each pair of brackets. */
  #values = 1;
  /** Whether the scan ended before the text. */
  isAborted = false;

  constructor(text: string, rules: Required<ParseJsonOptions>) {
    this.#text = text;
    this.#rules = rules;
    this.#escapes = text.includes("\\");
  }

  /** Whether a text that parses as JSON is an object. */
  get startsWithBrace(): boolean {
    return /^[ \t\n\r]*\{/.test(this.#text);
  }

  /**
   * Scans the text and returns the first fault. Too much depth or too many
   * values end the scan.
   */
  run(): JsonError | undefined {
    const text = this.#text;
    for (let i = 0; i < text.length;) {
      const c = text.charCodeAt(i);
      if (c === QUOTE) {
        i = this.#string(i);
      } else if (c === 0x7b || c === 0x5b) { // { [
        if (this.#places.length === this.#rules.maxDepth) {
          return this.#abort(
            "depth",
            `more than ${this.#rules.maxDepth} levels`,
          );
        }
        if (++this.#values > this.#rules.maxValues) return this.#tooMany();
        this.#names.push(c === 0x7b ? new Set() : undefined);
        this.#places.push(c === 0x7b ? "" : 0);
        i++;
      } else if (c === 0x7d || c === 0x5d) { // } ]
        this.#names.pop();
        this.#places.pop();
        i++;
      } else if (c === MINUS || (c >= 0x30 && c <= 0x39)) {
        i = this.#number(i);
      } else {
        if (c === COMMA) {
          if (++this.#values > this.#rules.maxValues) return this.#tooMany();
          this.#nextItem();
        }
        i++;
      }
    }
    return this.#fault;
  }

  #nextItem(): void {
    const top = this.#places.length - 1;
    const place = this.#places[top];
    if (typeof place === "number") this.#places[top] = place + 1;
  }

  /** Skips a string; returns the position after it. */
  #string(start: number): number {
    const text = this.#text;
    let end = text.indexOf('"', start + 1);
    if (this.#escapes) {
      while (end !== -1 && isEscaped(text, start, end)) {
        end = text.indexOf('"', end + 1);
      }
    }
    if (end === -1) return text.length; // JSON.parse will reject it.
    this.#endString(start, end);
    return end + 1;
  }

  /** Checks a string, which is a name if a colon follows in an object. */
  #endString(start: number, end: number): void {
    const text = this.#text;
    const names = this.#names.at(-1);
    if (names !== undefined && this.#isName(end + 1)) {
      const raw = text.slice(start + 1, end);
      const name = this.#escapes && raw.includes("\\") ? unescape(raw) : raw;
      this.#places[this.#places.length - 1] = name;
      if (names.has(name)) this.#report("duplicate", "a member occurs twice");
      names.add(name);
    }
    if (this.#escapes && !this.#isWellFormed(start, end)) {
      this.#report("string", LONE_SURROGATE);
    }
  }

  #isName(after: number): boolean {
    const text = this.#text;
    let i = after;
    while (isSpace(text.charCodeAt(i))) i++;
    return text.charCodeAt(i) === COLON;
  }

  /**
   * Returns whether all escaped surrogates are pairs. It works in place: to
   * unescape a long string took twice as long as to parse it.
   */
  #isWellFormed(start: number, end: number): boolean {
    const text = this.#text;
    let lowAt = -1;
    for (let i = start + 1; i < end;) {
      if (text.charCodeAt(i) !== BACKSLASH) {
        i++;
      } else if (text.charCodeAt(i + 1) !== 0x75) { // u
        i += 2;
      } else {
        // In lower case; d8 to db begin a pair, dc to df end it.
        const second = text.charCodeAt(i + 3) | 0x20;
        if ((text.charCodeAt(i + 2) | 0x20) === 0x64 && second >= 0x38) {
          const isLow = second >= 0x63;
          if (isLow ? i !== lowAt : lowAt !== -1) return false;
          lowAt = isLow ? -1 : i + 6;
        }
        i += 6;
      }
    }
    return lowAt === -1;
  }

  #number(start: number): number {
    const text = this.#text;
    let i = start;
    let integer = true;
    for (; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c >= 0x30 && c <= 0x39) continue;
      if (c === MINUS && i === start) continue;
      // . e E + -
      if (c !== 0x2e && c !== 0x65 && c !== 0x45 && c !== 0x2b && c !== MINUS) {
        break;
      }
      integer = false;
    }
    if (!integer || text.charCodeAt(start) === MINUS) {
      if (this.#rules.digitsOnly) {
        this.#report("number", "a number is not written in digits only");
      }
      const [name] = this.#places;
      if (this.#places.length === 1 && typeof name === "string") {
        this.decimals.add(name);
      }
    }
    if (!integer) {
      if (!Number.isFinite(Number(text.slice(start, i)))) {
        this.#report("number", "a number is too large");
      }
    } else if (i - start > SAFE_DIGITS) {
      if (!Number.isSafeInteger(Number(text.slice(start, i)))) {
        this.#report("number", "an integer is outside ±(2^53-1)");
      }
    }
    return i;
  }

  #tooMany(): JsonError {
    return this.#abort("values", `more than ${this.#rules.maxValues} values`);
  }

  #abort(fault: "depth" | "values", message: string): JsonError {
    this.isAborted = true;
    // An earlier fault is not reported, because the rest may not be JSON.
    return new JsonError(fault, toPointer(this.#places), message);
  }

  #report(fault: JsonFault, message: string): void {
    this.#fault ??= new JsonError(fault, toPointer(this.#places), message);
  }
}

function toPointer(places: readonly (string | number)[]): string {
  let pointer = "";
  for (const place of places) {
    const longer = `${pointer}/${escapePointer(place)}`;
    if (longer.length > MAX_POINTER_LENGTH) break;
    pointer = longer;
  }
  return pointer;
}

function isSpace(c: number): boolean {
  return c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09;
}

/** Returns whether a quote follows an odd number of backslashes. */
function isEscaped(text: string, start: number, quote: number): boolean {
  let i = quote - 1;
  while (i > start && text.charCodeAt(i) === BACKSLASH) i--;
  return (quote - 1 - i) % 2 === 1;
}

function unescape(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw; // JSON.parse will reject the whole text.
  }
}

/**
 * Returns one step of a JSON Pointer (RFC 6901 §3), without its slash.
 *
 * @example
 * ```ts
 * import { escapePointer } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(`/roles/${escapePointer("a/b~c")}`, "/roles/a~1b~0c");
 * ```
 */
export function escapePointer(place: string | number): string {
  return String(place).replaceAll("~", "~0").replaceAll("/", "~1");
}
