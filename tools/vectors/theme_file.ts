/**
 * The file of a theme: the usual documents once, and the differences of each
 * case. @module
 */

import type { JsonObject } from "./bytes.ts";
import { upsert } from "./events.ts";
import { DOCUMENT_PATHS, type FeedCase, filesOf, NOW } from "./feed_case.ts";
import type { Theme } from "./feed_cases.ts";
import { line } from "./lines.ts";

/**
 * The usual documents, the same in every file, so that a new case changes no
 * other case.
 */
const USUAL = filesOf({ lines: [line(upsert(1))] });

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the content of `vectors/feed/<theme>.json`. */
export function themeFile({ title, cases }: Theme): JsonObject {
  return {
    $schema: "../schema.json",
    kind: "feeds",
    theme: title,
    usual: { now: NOW, documents: describeFiles(USUAL) },
    cases: cases.map(describeCase),
  };
}

function describeCase({ name, expected, files }: FeedCase): JsonObject {
  const { description, spec, now, options, ...result } = expected;
  return {
    name,
    description,
    spec,
    ...(now === NOW ? {} : { now }),
    ...(options === undefined ? {} : { options }),
    documents: {
      ...describeFiles(
        new Map([...files].filter(([path, bytes]) => !isUsual(path, bytes))),
      ),
      ...Object.fromEntries(
        [...USUAL.keys()].filter((path) => !files.has(path))
          .map((path) => [path, null]),
      ),
    },
    expected: result,
  };
}

function isUsual(path: string, bytes: Uint8Array): boolean {
  const usual = USUAL.get(path);
  return usual?.length === bytes.length &&
    usual.every((byte, at) => byte === bytes[at]);
}

function describeFiles(files: ReadonlyMap<string, Uint8Array>): JsonObject {
  return Object.fromEntries(
    [...files].map(([path, bytes]) => [path, describeBytes(path, bytes)]),
  );
}

/**
 * Returns a document as text, a feed as lines, or `{ base64 }` if it is not
 * UTF-8.
 */
function describeBytes(path: string, bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { base64: Uint8Array.from(bytes).toBase64() };
  }
  return path === DOCUMENT_PATHS.feed && text.endsWith("\n")
    ? text.slice(0, -1).split("\n")
    : text;
}
