/** Writes cases of `vectors/` as files. @module */

import { dirname } from "node:path";
import type { TempFolder } from "./process.ts";
import {
  type FeedVector,
  type QuestionVector,
  readFeedVector,
} from "./vectors.ts";

function spell(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Writes an issuer's directory, as it would be published. */
export async function writeDocuments(
  documents: Iterable<readonly [path: string, content: string | Uint8Array]>,
  folder: string,
): Promise<void> {
  for (const [path, content] of documents) {
    const file = `${folder}/${path}`;
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeFile(
      file,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
  }
}

/**
 * Writes `<folder>/<case>/`: an issuer's directory with its `expected.json`.
 */
export async function unpackFeed(
  vector: FeedVector,
  folder: string,
): Promise<void> {
  const path = `${folder}/${vector.name}`;
  await Deno.mkdir(path, { recursive: true });
  await writeDocuments(vector.documents, path);
  await Deno.writeTextFile(`${path}/expected.json`, spell(vector.expected));
}

/** Writes `<folder>/<question>.json`. */
export async function unpackQuestion(
  { name, ...content }: QuestionVector,
  folder: string,
): Promise<void> {
  await Deno.writeTextFile(`${folder}/${name}.json`, spell(content));
}

/** Unpacks a case into a temporary folder, removed when its scope ends. */
export async function unpackedFeed(
  vector: FeedVector | string,
): Promise<TempFolder> {
  const path = await Deno.makeTempDir({ prefix: "sig-vector-" });
  const read = typeof vector === "string" ? readFeedVector(vector) : vector;
  await writeDocuments(read.documents, path);
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
