/**
 * `sig`, the command line of SIG v0.1.
 *
 * ```sh
 * deno run jsr:@sig/cli --help
 * ```
 *
 * @example As a function
 * ```ts
 * import { createDenoIo, run } from "@sig/cli";
 * import { assertEquals } from "@std/assert";
 *
 * let printed = "";
 * const io = { ...createDenoIo(), stdout: (text: string) => void (printed += text) };
 * assertEquals(await run(["--version"], io), 0);
 * assertEquals(printed, "sig 0.1.0\n");
 * ```
 *
 * @module
 */
export { createDenoIo } from "./terminal/deno_io.ts";
export type { Io } from "./terminal/io.ts";
export { run } from "./main.ts";
export { VERSION } from "./terminal/version.ts";
if (import.meta.main) await (await import("./main.ts")).main();
