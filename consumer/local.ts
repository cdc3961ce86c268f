/**
 * Files of an issuer's directory, for programs that serve or copy them.
 *
 * @example A document of a folder
 * ```ts
 * import { openInside } from "@sig/consumer/local";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * await Deno.writeTextFile(`${folder}/sig.json`, "{}");
 * const top = `${await Deno.realPath(folder)}/`;
 * const file = openInside(top, `${top}sig.json`);
 * assert(typeof file === "object");
 * assertEquals(file.size, 2);
 * file.close();
 * assertEquals(openInside(top, "/"), "outside");
 * await Deno.remove(folder, { recursive: true });
 * ```
 *
 * @module
 */
export {
  type InsideFile,
  type NotInside,
  openInside,
} from "./read/open_inside.ts";
