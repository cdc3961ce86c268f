/**
 * Launchers: short scripts that run a program of this checkout with exactly its
 * permissions.
 *
 * @module
 */

import { bundledEntry, type Executable, V8_FLAGS } from "./programs.ts";

/** Paths that a launcher uses. */
export interface LauncherOptions {
  /** Path of Deno. */
  readonly deno: string;
  /** Path of the bundle (`bundlePrograms`), without a trailing slash. */
  readonly bundle: string;
  /** Number of names in the bundle's folder. */
  readonly names: number;
}

/**
 * Loads the files of a command only when it is called. Without this flag Deno
 * loads those of all commands at each start. It needs `--allow-read` for them,
 * and `deno compile` would omit them.
 */
export const LAZY_IMPORTS = "--unstable-lazy-dynamic-imports";

/**
 * Compiles a file completely when it is loaded. Deno keeps what is compiled then
 * for the next start, and a command needs most of its files.
 */
const EAGER_FLAGS = `${V8_FLAGS},--no-lazy`;

/** Text that identifies a launcher; other files are never overwritten. */
const MARK = "made by `deno task install` of SIG for Deno";

/** Whether a file is a launcher. */
export function isLauncher(text: string): boolean {
  return text.includes(MARK);
}

/**
 * Lines that find the program of `sig watch … --exec PROGRAM`, and its
 * permission. Only this program may be started, and no other command may start
 * any.
 */
const MAY_RUN = [
  `run=
# --format may precede the command.
case $1 in --format) command=$3 ;; --format=*) command=$2 ;; *) command=$1 ;; esac
if [ "$command" = watch ]; then
  before=
  for word; do
    [ "$before" != --exec ] || run=$word
    case $word in --exec=*) run=\${word#--exec=} ;; esac
    before=$word
  done
  # Its first word; a comma would separate several programs.
  run=$(set -f; set -- $run; printf %s "$1")
  case $run in *,*) run= ;; esac
fi
`,
  ' ${run:+"--allow-run=$run"}',
] as const;

/** With fewer file descriptors, Deno ends with 1 before the program begins. */
const MIN_DESCRIPTORS = 64;

/**
 * Returns a shell script. If Deno or a file of the bundle is missing, or the
 * limit of open files is too low for Deno, it exits with 2, since 1 would mean a
 * deny.
 */
export function shellLauncher(
  executable: Executable,
  { deno, bundle, names }: LauncherOptions,
): string {
  const { name, permissions } = executable;
  const [findProgram, mayRun] = name === "sig" ? MAY_RUN : ["", ""];
  return `#!/bin/sh
# ${name}, ${MARK}. It may be deleted.
deno=${quote(deno)}
bundle=${quote(bundle)}
program=$bundle/${bundledEntry(executable)}
is_whole() { [ $# -ge ${names} ]; }
if [ ! -x "$deno" ] || [ ! -f "$program" ] || ! is_whole "$bundle"/*; then
  echo "${name}: $deno or a file of $bundle is gone. Run 'npx -y deno@2.9.6 task install' in the checkout again." >&2
  exit 2
fi
limit=$(ulimit -n)
if [ "$limit" != unlimited ] && [ "$limit" -lt ${MIN_DESCRIPTORS} ]; then
  echo "${name}: at most $limit files may be open, ${MIN_DESCRIPTORS} are needed. Raise the limit: ulimit -n ${MIN_DESCRIPTORS}" >&2
  exit 2
fi
${findProgram}exec "$deno" run --quiet --no-prompt ${LAZY_IMPORTS} ${EAGER_FLAGS} \\
  ${permissions.map(shellWord).join(" ")}${mayRun} \\
  --config "$bundle/deno.json" "$program" "$@"
`;
}

/** Returns a batch file for Windows, like {@linkcode shellLauncher}. */
export function windowsLauncher(
  executable: Executable,
  { deno, bundle }: LauncherOptions,
): string {
  const { name, permissions } = executable;
  const [program, config, file] = [
    deno,
    `${bundle}\\deno.json`,
    `${bundle}/${bundledEntry(executable)}`.replaceAll("/", "\\"),
  ].map((path) => `"${path.replaceAll("%", "%%")}"`);
  return [
    "@echo off",
    `rem ${name}, ${MARK}. It may be deleted.`,
    ...[program, file].map((path) =>
      `if not exist ${path} (echo ${name}: ${path} is gone. Run ` +
      `"npx -y deno@2.9.6 task install" in the checkout again. 1>&2 & exit /b 2)`
    ),
    `${program} run --quiet --no-prompt ${LAZY_IMPORTS} ${EAGER_FLAGS} ` +
    `${permissions.join(" ")} --config ${config} ${file} %*`,
    "",
  ].join("\r\n");
}

/**
 * Quotes a `*`, which the shell could expand to a file name that grants more.
 */
function shellWord(text: string): string {
  return text.includes("*") ? quote(text) : text;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
