/** A feed of the vectors, as files for the page. @module */

import { DOCUMENT_PATHS, readFeedVector } from "../../../tests/kit/vectors.ts";

/** A file for the browser's file chooser. */
interface ChosenFile {
  /** Its name. */
  readonly name: string;
  /** Its type, which the page ignores. */
  readonly mimeType: string;
  /** Its content. */
  // deno-lint-ignore no-node-globals -- what playwright takes
  readonly buffer: Buffer;
}

/** Returns the existing documents of a case as files. */
export async function feedFiles(name: string): Promise<ChosenFile[]> {
  const { Buffer } = await import("node:buffer");
  const { documents } = readFeedVector(name);
  return Object.values(DOCUMENT_PATHS).flatMap((path) => {
    const bytes = documents.get(path);
    if (bytes === undefined) return [];
    return [{
      name: path.slice(path.lastIndexOf("/") + 1),
      mimeType: "application/octet-stream",
      buffer: Buffer.from(bytes),
    }];
  });
}
