/** Inputs of the suites on other platforms. @module */

import type { Inputs, Servers } from "../../../tools/platform_suites/suite.ts";
import { findVectors, vectorPath } from "../../kit/others_vectors.ts";
import { filesBelow } from "./files_below.ts";
import { ROOT } from "../../../tools/workspace.ts";

/** The vectors of other projects that suites read. */
const PATHS = ["jsontestsuite/test_parsing", "own", "wycheproof"];

/** The folder of this project's vectors. */
const OWN = decodeURIComponent(new URL("vectors/", ROOT).pathname);

/** Whether the vectors of other projects are available. */
export function hasVectors(): boolean {
  return PATHS.every((path) => findVectors(path) !== undefined);
}

/** Returns the vectors of other projects and of this one, with the servers. */
export async function packInputs(servers?: Servers): Promise<Inputs> {
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
  return servers === undefined ? { files } : { files, servers };
}
