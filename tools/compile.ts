/**
 * Makes the three executables in `dist/`, for this machine. Run by
 * `deno task compile`.
 *
 * Deno downloads its runtime once; `DENORT_BIN` names one that is at hand, of
 * the same version.
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
   * All that it may ever do: nobody can add to it later. None may start
   * processes, load native code or read what the system says of itself; only the
   * launcher of `sig` for shells lets `watch --exec` start what that names.
   */
  readonly permissions: readonly string[];
}

/** What is made. */
export const EXECUTABLES: readonly Executable[] = [
  {
    name: "sig",
    entry: "cli/main.ts",
    permissions: [
      "--allow-read",
      "--allow-write",
      "--allow-net",
      "--allow-env=SIG_KEYS_DIR,SIG_KEY_FILE,XDG_DATA_HOME,HOME,NO_COLOR,SIG_REDIS_PASSWORD,SSH_AUTH_SOCK,SIG_API_*,SIG_WEB_*",
    ],
  },
  {
    name: "sig-api",
    entry: "api/main.ts",
    // Reading is for files that settings name; the environment is listed to find
    // misspelt settings.
    permissions: ["--allow-net", "--allow-read", "--allow-env"],
  },
  {
    name: "sig-web",
    entry: "web/main.ts",
    // It writes nothing: `--store kv:PATH` is for `sig web`.
    permissions: ["--allow-net", "--allow-read", "--allow-env"],
  },
];

/**
 * Keeps V8's heaps small. Its two halves for young objects grow to 32 MiB each,
 * in every thread; objects that have grown old are looked through when there is
 * several times of what was good. With halves of 2 MiB, and a look once there is
 * half as much again, a first look at a million events takes 100 MiB less.
 */
export const V8_FLAGS =
  "--v8-flags=--max-semi-space-size=2,--heap-growing-percent=50";

/**
 * Flags of `deno compile` besides the permissions. Types are checked by
 * `task check`, not again for each executable.
 */
const FLAGS = [
  ...["--quiet", "--no-check", "--exclude-unused-npm", "--no-prompt"],
  V8_FLAGS,
];

/** How an executable is made. */
export interface CompileOptions {
  /** The folder that it is written to. */
  readonly folder: string;
  /** A Rust target triple (default: this machine's). */
  readonly target?: string | undefined;
  /** What is compiled: a folder whose URL ends with a slash (default: this checkout). */
  readonly root?: URL;
  /** The Deno that compiles. */
  readonly deno?: string;
  /** Replace the flags of {@linkcode compileExecutable}: for other versions. */
  readonly flags?: readonly string[];
  /** Variables beside the process's own. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Makes one executable.
 *
 * @returns its path.
 * @throws {Error} with Deno's own words.
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

/** Deno's own words: the cause if it names one, without its stack. */
function reason(stderr: Uint8Array): string {
  const text = new TextDecoder().decode(stderr)
    .replace(/^Stack backtrace:[^]*/m, "");
  const causes = [
    ...text.matchAll(/^ +\d+: (?!Setting up base binary)(.+)$/gm),
  ];
  return causes[0]?.[1] ?? /^error: (.+)$/m.exec(text)?.[1] ??
    "Deno did not say why";
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
