/** What the suites on other platforms are given. @module */

import type { Inputs, Servers } from "../../../tools/platform_suites/suite.ts";
import { filesBelow } from "./files_below.ts";
import { ROOT } from "../../../tools/workspace.ts";

/** The folder of others' vectors. */
const SHARED = new URL(
  `${Deno.env.get("SIG_VECTORS") ?? "../shared/vectors"}/`,
  ROOT,
);

/** The vectors that suites read. */
const PATHS = ["jsontestsuite/test_parsing", "own", "wycheproof"];

/** Whether the vectors are there. */
export async function hasVectors(): Promise<boolean> {
  return await Deno.stat(SHARED).then(() => true, () => false);
}

/** Others' vectors and our own, with the servers to fetch from. */
export async function packInputs(servers: Servers): Promise<Inputs> {
  const files: Record<string, string> = {};
  for (const path of PATHS) {
    await pack(new URL(path, SHARED), `shared/${path}`, files);
  }
  await pack(new URL("vectors", ROOT), "own", files);
  return { files, servers };
}

async function pack(
  folder: URL,
  prefix: string,
  files: Record<string, string>,
): Promise<void> {
  const base = decodeURIComponent(folder.pathname);
  for await (const path of filesBelow(base)) {
    files[prefix + path] = (await Deno.readFile(base + path)).toBase64();
  }
}
