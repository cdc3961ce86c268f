/**
 * Compares a tag with the version of every package: a release must have the
 * version of its content. Run by the workflows:
 *
 * ```sh
 * deno run --allow-read tools/check_tag.ts v0.1.0
 * ```
 *
 * @module
 */

import { VERSIONS } from "./workspace.ts";

const [tag = ""] = Deno.args;
const others = [...VERSIONS].filter(([, version]) => tag !== `v${version}`)
  .map((pair) => pair.join(" "));
if (others.length > 0) {
  console.error(
    `Cannot release "${tag}": it is not the version of ${others.join(", ")}`,
  );
  Deno.exit(1);
}
