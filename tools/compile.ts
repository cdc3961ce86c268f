/**
 * Compiles the three executables for this machine to `dist/`. Run by `deno task
 * compile`.
 *
 * Deno downloads its runtime once; `DENORT_BIN` can name a local one of the
 * same version.
 *
 * @module
 */

import {
  bundledEntry,
  bundlePrograms,
  type Executable,
  EXECUTABLES,
  V8_FLAGS,
} from "./programs.ts";
import { readLinks } from "./release_copy.ts";
import { ROOT } from "./workspace.ts";

/**
 * Flags of `deno compile` in addition to the permissions. `deno task check`
 * checks the types, so this does not.
 */
const FLAGS = [
  ...["--quiet", "--no-check", "--exclude-unused-npm", "--no-prompt"],
  V8_FLAGS,
];

/** Options of {@linkcode compileExecutable}. */
export interface CompileOptions {
  /** The output folder. */
  readonly folder: string;
  /** The folder of the bundle (`bundlePrograms`). */
  readonly bundle: string;
  /** A Rust target triple (default: this machine's). */
  readonly target?: string | undefined;
  /** Path of the Deno that compiles (default: the running one). */
  readonly deno?: string;
  /** Flags instead of the default ones, for other versions of Deno. */
  readonly flags?: readonly string[];
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Compiles an executable.
 *
 * @returns its path.
 * @throws {Error} with Deno's message.
 */
export async function compileExecutable(
  executable: Executable,
  options: CompileOptions,
): Promise<string> {
  const { name, permissions } = executable;
  const { bundle, folder, target, env = {}, flags = FLAGS } = options;
  const isWindows = target?.includes("windows") ?? Deno.build.os === "windows";
  const path = `${folder}/${name}${isWindows ? ".exe" : ""}`;
  const { success, stderr } = await new Deno.Command(
    options.deno ?? Deno.execPath(),
    {
      args: [
        ...["compile", ...flags, ...permissions],
        ...(target === undefined ? [] : ["--target", target]),
        ...["--config", `${bundle}/deno.json`],
        ...["--output", path, `${bundle}/${bundledEntry(executable)}`],
      ],
      env: { ...env, NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
    },
  ).output();
  if (success) return path;
  throw new Error(`Cannot compile ${name}: ${reason(stderr)}`);
}

/** Returns Deno's message: the cause if there is one, without the stack. */
function reason(stderr: Uint8Array): string {
  const text = new TextDecoder().decode(stderr)
    .replace(/^Stack backtrace:[^]*/m, "");
  const causes = [
    ...text.matchAll(/^ +\d+: (?!Setting up base binary)(.+)$/gm),
  ];
  return causes[0]?.[1] ?? /^error: (.+)$/m.exec(text)?.[1] ??
    "Deno gave no reason";
}

if (import.meta.main) {
  const folder = decodeURIComponent(new URL("dist", ROOT).pathname);
  const bundle = `${folder}/bundle`;
  try {
    await bundlePrograms(bundle);
    for (const executable of EXECUTABLES) {
      const path = await compileExecutable(executable, { folder, bundle });
      const { size } = await Deno.stat(path);
      console.log(`${path}  ${Math.round(size / 1e6)} MB`);
    }
    if ((await readLinks(ROOT)).length > 0) {
      console.error(
        "For your own use only: @std in these is npm's deno-std, which is " +
          'not of Deno\'s makers, as long as deno.json has "links".',
      );
    }
  } catch (error) {
    console.error((error as Error).message);
    Deno.exit(1);
  }
}
