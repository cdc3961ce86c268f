/**
 * A separate program that fetches hostile paths one after the other. It prints
 * the error code of each, and by how many bytes the memory grew. @module
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

/**
 * Returns the maximum growth of the process's memory in bytes during the work.
 */
async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const before = Deno.memoryUsage().rss;
  let most = before;
  const sample = () => {
    most = Math.max(most, Deno.memoryUsage().rss);
  };
  using _watch = repeatedly(10, sample);
  await work();
  sample();
  return most - before;
}

// The first fetch loads modules, which must not be counted.
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
