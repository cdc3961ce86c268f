/** Input from a file or from standard input. @module */

import { JsonError, type OpenObject, parseJson, SigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { Io } from "./io.ts";

/** Reads the bytes of a file; `-` is standard input. */
export async function readInput(
  io: Io,
  path: string,
  maxBytes: number,
): Promise<Uint8Array> {
  return path === "-"
    ? await io.readStdin(maxBytes)
    : await io.readFile(path, maxBytes);
}

/** Parses a strict JSON object; undefined for any other text. */
export function parseObject(
  input: Uint8Array | string,
): OpenObject | undefined {
  try {
    const value = parseJson(input);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return undefined;
  }
}

/** Description of a JSON input, for errors. */
interface JsonInput {
  /** Its name in messages, such as `plan` or `answer`. */
  readonly what: string;
  readonly flag: string;
  readonly maxBytes: number;
  readonly hint?: string;
}

/**
 * Parses the bytes of {@linkcode readInput} as strict JSON.
 *
 * @throws {SigError} `invalid_json`, and the errors of reading.
 */
export async function readJsonInput(
  io: Io,
  path: string,
  { what, flag, maxBytes, hint }: JsonInput,
): Promise<unknown> {
  const bytes = await readInput(io, path, maxBytes);
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { message, pointer } = error;
    throw new SigError("invalid_json", {
      action: `read ${what}`,
      reason: message,
      context: { flag, pointer, ...(hint === undefined ? {} : { hint }) },
    });
  }
}
