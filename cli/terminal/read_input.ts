/** What is read from a file or from standard input. @module */

import { JsonError, parseJson, SigError } from "@sig/core";
import type { Io } from "./io.ts";

/** The bytes of a file; `-` is standard input. */
export async function readInput(
  io: Io,
  path: string,
  maxBytes: number,
): Promise<Uint8Array> {
  return path === "-"
    ? await io.readStdin(maxBytes)
    : await io.readFile(path, maxBytes);
}

/** A JSON value, and what it is to people. */
interface JsonInput {
  /** In the words of a message: `plan`, `answer`. */
  readonly what: string;
  /** The flag that names it. */
  readonly flag: string;
  /** Bytes at most. */
  readonly maxBytes: number;
  /** What it may be taken for. */
  readonly hint?: string;
}

/**
 * The strict JSON of {@linkcode readInput}.
 *
 * @throws {SigError} `invalid_json`, and what reading throws.
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
    throw new SigError("invalid_json", `Cannot read ${what}: ${message}`, {
      context: { flag, pointer, ...(hint === undefined ? {} : { hint }) },
    });
  }
}
