/**
 * Compiles the three executables for this machine to `dist/`. Run by `deno task
 * compile`.
 *
 * Deno downloads its runtime once; `DENORT_BIN` can name a local one of the
 * same version.
 *
 * @module
 */

import { readLinks } from "./release_copy.ts";

const ROOT = new URL("../", import.meta.url);

/** An executable. */
export interface Executable {
  /** Its name. */
  readonly name: string;
  /** Its entry point, from the project's root. */
  readonly entry: string;
  /**
   * Its permissions, which are fixed in the executable. None may start
   * processes, load native code or read system information. Only the shell
   * launcher of `sig` lets `watch --exec` start its program.
   */
  readonly permissions: readonly string[];
}

/** The executables. */
export const EXECUTABLES: readonly Executable[] = [
  {
    name: "sig",
    entry: "cli/main.ts",
    permissions: [
      "--allow-read",
      "--allow-write",
      "--allow-net",
      "--allow-env=SIG_KEYS_DIR,SIG_KEY_FILE,XDG_DATA_HOME,XDG_CACHE_HOME,HOME,NO_COLOR,SIG_REDIS_PASSWORD,SSH_AUTH_SOCK,SIG_API_*,SIG_WEB_*",
    ],
  },
  {
    name: "sig-api",
    entry: "api/main.ts",
    // Read access is for files that settings name; the environment is listed to
    // detect misspelt settings.
    permissions: ["--allow-net", "--allow-read", "--allow-env"],
  },
  {
    name: "sig-web",
    entry: "web/main.ts",
    // No write permission: `--store kv:PATH` works in `sig web` only.
    permissions: ["--allow-net", "--allow-read", "--allow-env"],
  },
];

/**
 * Keeps V8's heaps small. By default each of the two semi-spaces of a thread
 * grows to 32 MiB, and the old generation to several times the live objects
 * before it is collected. With 2 MiB and 50 % growth, the first verification of
 * a million events needs 100 MiB less.
 */
export const V8_FLAGS =
  "--v8-flags=--max-semi-space-size=2,--heap-growing-percent=50";

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
  /** A Rust target triple (default: this machine's). */
  readonly target?: string | undefined;
  /**
   * The checkout to compile; its URL ends with a slash (default: this
   * checkout).
   */
  readonly root?: URL;
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
  { name, entry, permissions }: Executable,
  options: CompileOptions,
): Promise<string> {
  const { folder, target, root = ROOT, env = {}, flags = FLAGS } = options;
  const isWindows = target?.includes("windows") ?? Deno.build.os === "windows";
  const path = `${folder}/${name}${isWindows ? ".exe" : ""}`;
  const { success, stderr } = await new Deno.Command(
    options.deno ?? Deno.execPath(),
    {
      args: [
        ...["compile", ...flags, ...permissions],
        ...(target === undefined ? [] : ["--target", target]),
        ...["--output", path, entry],
      ],
      cwd: root,
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
  const folder = new URL("dist", ROOT).pathname;
  try {
    for (const executable of EXECUTABLES) {
      const path = await compileExecutable(executable, { folder });
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
