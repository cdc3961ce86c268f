/** What the suites on other platforms are given. @module */

import type { Inputs, Servers } from "../../../tools/platform_suites/suite.ts";
import { findVectors, vectorPath } from "../../kit/others_vectors.ts";
import { filesBelow } from "./files_below.ts";
import { ROOT } from "../../../tools/workspace.ts";

/** The vectors that suites read. */
const PATHS = ["jsontestsuite/test_parsing", "own", "wycheproof"];

/** The folder of our own. */
const OWN = decodeURIComponent(new URL("vectors/", ROOT).pathname);

/** Whether the vectors are there. */
export function hasVectors(): boolean {
  return PATHS.every((path) => findVectors(path) !== undefined);
}

/** Others' vectors and our own, with the servers to fetch from. */
export async function packInputs(servers: Servers): Promise<Inputs> {
  const files: Record<string, string> = {};
  const add = async (name: string, path: string) => {
    files[name] = (await Deno.readFile(path)).toBase64();
  };
  const folders = PATHS.map((path) => [`shared/${path}`, vectorPath(path)]);
  folders.push(["own/feed", OWN + "feed"]);
  for (const [name, folder] of folders) {
    for await (const path of filesBelow(folder!)) {
      await add(name + path, folder + path);
    }
  }
  await add("own/questions.json", `${OWN}questions.json`);
  return { files, servers };
}
