/**
 * A program of its own that fetches from one hostile path after the other and
 * prints the code of each, and by how many bytes memory grew. @module
 */

import { isSigError } from "@sig/core";
import { fetchText } from "./fetching.ts";
import { repeatedly } from "../../tests/kit/wait.ts";

const [origin = "", ...paths] = Deno.args;

async function codeOf(path: string): Promise<string> {
  try {
    await fetchText(origin + path, {
      maxBytes: 1024 * 1024,
      totalTimeoutMs: 500,
    });
    return "fetched";
  } catch (error) {
    if (isSigError(error)) return error.code;
    throw error;
  }
}

/** By how many bytes the program is larger, at most, while the work goes on. */
async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const before = Deno.memoryUsage().rss;
  let most = before;
  const look = () => {
    most = Math.max(most, Deno.memoryUsage().rss);
  };
  using _watch = repeatedly(10, look);
  await work();
  look();
  return most - before;
}

// What the first fetch loads is not theirs.
await codeOf("/good");
const codes: Record<string, string> = {};
const growth: Record<string, number> = {};
for (const path of paths) {
  growth[path] = await growthOf(async () => {
    codes[path] = await codeOf(path);
  });
}
growth.all = await growthOf(() => Promise.all(paths.map(codeOf)));
console.log(JSON.stringify({ growth, codes }));
