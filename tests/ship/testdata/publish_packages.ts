/** All packages, published to a registry on loopback. @module */

import type { JsrRegistry } from "./jsr_registry.ts";
import { ROOT } from "../../../tools/workspace.ts";
import { runWell } from "../../kit/process.ts";

/** Runs the task `publish`, which must succeed. */
export async function publishPackages({ url }: JsrRegistry): Promise<void> {
  // The types of what is there then are checked as it is imported.
  const flags = ["--allow-dirty", "--no-check", "--token", "t"];
  const run = ["run", "--quiet", "--no-prompt"];
  const permissions = ["--allow-read", "--allow-write", "--allow-run"];
  const variables = "--allow-env=JSR_URL";
  await runWell(
    Deno.execPath(),
    [...run, ...permissions, variables, "tools/publish.ts", ...flags],
    { cwd: ROOT, env: { JSR_URL: url, NO_COLOR: "1" } },
  );
}
