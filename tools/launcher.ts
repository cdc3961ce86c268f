/**
 * The text of a launcher: a file of a few lines that runs one of this
 * checkout's programs, with that program's permissions and no more.
 *
 * @module
 */

import { type Executable, V8_FLAGS } from "./compile.ts";

/** What a launcher runs. */
export interface LauncherOptions {
  /** The Deno that runs it. */
  readonly deno: string;
  /** The checkout, without a slash at its end. */
  readonly root: string;
}

/**
 * Reads the modules of a command when it is called. Without this Deno reads those
 * of all commands at each start. It needs `--allow-read` for them; `deno compile`
 * would leave them out.
 */
export const LAZY_IMPORTS = "--unstable-lazy-dynamic-imports";

/** By this line a launcher is known as one: others are never overwritten. */
const MARK = "made by `deno task install` of SIG for Deno";

/** Whether a file is a launcher. */
export function isLauncher(text: string): boolean {
  return text.includes(MARK);
}

/**
 * `sig watch … --exec PROGRAM` may start that program and no other, since that
 * is what was asked for. Nothing else may start any. What finds the program, and
 * its permission.
 */
const MAY_RUN = [
  `run=
# --format may stand before the command.
case $1 in --format) command=$3 ;; --format=*) command=$2 ;; *) command=$1 ;; esac
if [ "$command" = watch ]; then
  before=
  for word; do
    [ "$before" != --exec ] || run=$word
    case $word in --exec=*) run=\${word#--exec=} ;; esac
    before=$word
  done
  # Its first word; commas would name several.
  run=$(set -f; set -- $run; printf %s "$1")
  case $run in *,*) run= ;; esac
fi
`,
  ' ${run:+"--allow-run=$run"}',
] as const;

/**
 * A launcher for shells. Without its Deno or its checkout it ends with exit
 * code 2: 1 would be read as a deny.
 */
export function shellLauncher(
  { name, entry, permissions }: Executable,
  { deno, root }: LauncherOptions,
): string {
  const [findProgram, mayRun] = name === "sig" ? MAY_RUN : ["", ""];
  return `#!/bin/sh
# ${name}, ${MARK}. It may be deleted.
deno=${quote(deno)}
root=${quote(root)}
if [ ! -x "$deno" ] || [ ! -f "$root/${entry}" ]; then
  echo "${name}: $deno or $root is gone. Run 'npx -y deno@2.9.6 task install' in the checkout again." >&2
  exit 2
fi
${findProgram}exec "$deno" run --quiet --no-prompt ${LAZY_IMPORTS} ${V8_FLAGS} \\
  ${permissions.map(shellWord).join(" ")}${mayRun} \\
  --config "$root/deno.json" "$root/${entry}" "$@"
`;
}

/** The same for Windows. */
export function windowsLauncher(
  { name, entry, permissions }: Executable,
  { deno, root }: LauncherOptions,
): string {
  const [program, config, file] = [
    deno,
    `${root}\\deno.json`,
    `${root}\\${entry.replaceAll("/", "\\")}`,
  ].map((path) => `"${path.replaceAll("%", "%%")}"`);
  return [
    "@echo off",
    `rem ${name}, ${MARK}. It may be deleted.`,
    ...[program, file].map((path) =>
      `if not exist ${path} (echo ${name}: ${path} is gone. Run ` +
      `"npx -y deno@2.9.6 task install" in the checkout again. 1>&2 & exit /b 2)`
    ),
    `${program} run --quiet --no-prompt ${LAZY_IMPORTS} ${V8_FLAGS} ` +
    `${permissions.join(" ")} --config ${config} ${file} %*`,
    "",
  ].join("\r\n");
}

/** A `*` must not become the name of a file, which could grant more. */
function shellWord(text: string): string {
  return text.includes("*") ? quote(text) : text;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
