/**
 * `sig-api` with a watch on its event loop: how long each turn of it was late,
 * and how much of that its own thread had worked. Where other processes want
 * the same cores, only the second is the server's doing.
 *
 * @module
 */

import process from "node:process";
import { createServerIo, runServer } from "@sig/api/http";
import { apiProgram } from "@sig/api/program";

/** What was seen since it was last asked; milliseconds. */
export interface Watched {
  /** How late each turn was. */
  readonly late: readonly number[];
  /** What the thread had worked in it. */
  readonly worked: readonly number[];
  /** The largest resident set, in MiB. */
  readonly rss: number;
}

const EVERY_MS = 2;
let seen: { late: number[]; worked: number[]; rss: number };
reset();

function reset(): void {
  seen = { late: [], worked: [], rss: 0 };
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

let last = performance.now();
let lastWorked = workedMs();
setInterval(() => {
  const now = performance.now();
  const worked = workedMs();
  seen.late.push(Math.max(0, now - last - EVERY_MS));
  seen.worked.push(worked - lastWorked);
  if (seen.late.length % 16 === 1) {
    seen.rss = Math.max(seen.rss, Deno.memoryUsage().rss / 1024 / 1024);
  }
  last = now;
  lastWorked = worked;
}, EVERY_MS);

const watch = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  () => {
    const answer: Watched = seen;
    reset();
    return Response.json(answer);
  },
);
console.log(`http://127.0.0.1:${watch.addr.port}`);
Deno.exit(await runServer(apiProgram, Deno.args, createServerIo()));
