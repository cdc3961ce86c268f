/**
 * Writes cases of `vectors/` as directories, which can be used as sources. Run
 * by `deno task vectors:unpack`.
 *
 * @module
 */

import { suggest } from "../core/text/suggest.ts";
import { unpackFeed, unpackQuestion } from "../tests/kit/unpack_vectors.ts";
import { readFeedVectors, readQuestionVectors } from "../tests/kit/vectors.ts";

const HELP = `Usage: deno task vectors:unpack DIR [CASE…]

Writes cases of vectors/ into DIR, which must be empty or not there yet:
  DIR/<feed>/           an issuer's directory, with its expected.json
  DIR/<question>.json   a question; the feed that it is about comes with it

Without CASE all of them are written.
`;

/** An error in the arguments. */
export class UsageError extends Error {}

/** Throws unless the folder is empty or missing. */
async function requireEmpty(folder: string): Promise<void> {
  try {
    for await (const _ of Deno.readDir(folder)) {
      throw new UsageError(
        `Cannot unpack: ${folder} is not empty. Name a new directory`,
      );
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotADirectory) {
      throw new UsageError(`Cannot unpack: ${folder} is not a directory`);
    }
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Writes the named cases (default: all) to the folder, or nothing for `--help`.
 *
 * @returns what to print.
 * @throws {UsageError} before anything is written.
 */
export async function unpack(args: readonly string[]): Promise<string> {
  if (args.includes("--help") || args.includes("-h")) return HELP;
  const [folder, ...names] = args;
  const flag = args.find((word) => word.startsWith("-"));
  if (flag !== undefined) {
    throw new UsageError(`Cannot unpack: unknown flag ${flag}`);
  }
  if (!folder) throw new UsageError("Cannot unpack: DIR is missing");
  const allFeeds = readFeedVectors();
  const allQuestions = readQuestionVectors();
  const known = [...allFeeds, ...allQuestions].map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const near = suggest(name, known);
    const hint = near === undefined ? "" : `. Did you mean ${near}?`;
    throw new UsageError(
      `Cannot unpack: there is no case ${JSON.stringify(name)}${hint}`,
    );
  }
  await requireEmpty(folder);
  const isAsked = ({ name }: { readonly name: string }) =>
    names.length === 0 || names.includes(name);
  const questions = allQuestions.filter(isAsked);
  const feeds = allFeeds.filter((feed) =>
    isAsked(feed) || questions.some((question) => question.feed === feed.name)
  );
  await Deno.mkdir(folder, { recursive: true });
  for (const feed of feeds) await unpackFeed(feed, folder);
  for (const question of questions) await unpackQuestion(question, folder);
  return `${feeds.length} feeds and ${questions.length} questions in ${folder}`;
}

if (import.meta.main) {
  try {
    console.log(await unpack(Deno.args));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\nSee: deno task vectors:unpack --help`);
    Deno.exitCode = 2;
  }
}
