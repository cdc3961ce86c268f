/** Reads the cases of `vectors/` for tests. @module */

import type { PrivateJwk } from "@sig/core";
import {
  type FeedFile,
  type FeedVector,
  parseFeedFile,
  type QuestionFile,
  type QuestionVector,
} from "./vector_format.ts";

export type { FeedVector, QuestionVector } from "./vector_format.ts";
export { DOCUMENT_PATHS } from "./vector_format.ts";

const FOLDER = new URL("../../vectors/", import.meta.url);

function read<T>(path: string): T {
  return JSON.parse(Deno.readTextFileSync(new URL(path, FOLDER))) as T;
}

/** Returns all feeds, sorted by name. */
export function readFeedVectors(): readonly FeedVector[] {
  return [...Deno.readDirSync(new URL("feed/", FOLDER))]
    .flatMap(({ name }) => parseFeedFile(read<FeedFile>(`feed/${name}`)))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Returns a feed by its name. */
export function readFeedVector(name: string): FeedVector {
  const found = readFeedVectors().find((vector) => vector.name === name);
  if (found === undefined) throw new Error(`There is no feed ${name}`);
  return found;
}

/**
 * Returns about sixty feeds, for tests of code that only passes results on:
 * from each file the first case of each error code, of each warning, and
 * without either.
 */
export function readOneFeedOfEach(): readonly FeedVector[] {
  const seen = new Set<string>();
  return readFeedVectors().filter(({ theme, expected }) => {
    const outcomes = expected.result === "invalid"
      ? [expected.code]
      : expected.warnings.length > 0
      ? expected.warnings
      : ["valid"];
    const fresh = outcomes.map((outcome) => `${theme} ${outcome}`)
      .filter((outcome) => !seen.has(outcome));
    for (const outcome of fresh) seen.add(outcome);
    return fresh.length > 0;
  });
}

/** Returns all questions, sorted by name. */
export function readQuestionVectors(): readonly QuestionVector[] {
  return [...read<QuestionFile>("questions.json").cases]
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Returns the published test keys, in the order of `vectors/keys.json`. */
export function readTestKeys(): readonly PrivateJwk[] {
  return read<{ keys: { jwk: PrivateJwk }[] }>("keys.json").keys
    .map(({ jwk }) => jwk);
}
