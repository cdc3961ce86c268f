/**
 * Runs several commands of `sig` in one process, and prints what each did. The
 * argument is a JSON list of their arguments.
 *
 * @module
 */

import { run } from "../main.ts";
import { createDenoIo } from "../terminal/deno_io.ts";

/** What one command did. */
export interface Done {
  readonly code: number;
  readonly stderr: string;
}

const done: Done[] = [];
for (const args of JSON.parse(Deno.args[0]!) as readonly string[][]) {
  let stderr = "";
  const code = await run(args, {
    ...createDenoIo(),
    stdout() {},
    stderr: (text) => void (stderr += text),
  });
  done.push({ code, stderr });
}
console.log(JSON.stringify(done));
