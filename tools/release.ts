/**
 * Makes the archives of a release in `dist/release/`, one for each target, and
 * `SHA256SUMS`. Run by `deno task release`, or for some targets only:
 *
 * ```sh
 * deno task release --target x86_64-unknown-linux-gnu --output /tmp/release
 * ```
 *
 * `DENORT_BIN` names one runtime: use it with the one target that it is for.
 *
 * A target whose runtime can't be downloaded is named with the reason, and the
 * others are made all the same; the exit code is then 1, so that
 * `deno task release && upload` never publishes a part of a release as a whole.
 *
 * All is compiled in a copy without links that was tested (`release_copy.ts`):
 * people who download an executable trust all that is in it. Its lock, with the
 * digest of each dependency, is part of the archive. `--tests=PATH` tests only
 * that.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { compileExecutable, EXECUTABLES } from "./compile.ts";
import { makeReleaseCopy, splitTests } from "./release_copy.ts";
import { ROOT, runProgram, sha256, VERSION } from "./workspace.ts";

/** All that a release is made for. */
export const TARGETS: readonly string[] = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
];

/** What an earlier run left: it must not be taken for a part of this one. */
const OURS = /^(?:sig-.+\.tar\.gz|SHA256SUMS)$/;

/** How a release is made. */
export interface ReleaseOptions {
  /** The folder of the archives; those of an earlier run are removed. */
  readonly folder: string;
  /** The targets (default: {@linkcode TARGETS}). */
  readonly targets?: readonly string[];
  /** What is compiled: a folder whose URL ends with a slash (default: this checkout). */
  readonly root?: URL;
  /** Makes one executable in a folder (default: {@linkcode compileExecutable}). */
  readonly compile?: typeof compileExecutable;
}

/** What came of it. */
export interface Release {
  /** Names of the archives that were made. */
  readonly archives: readonly string[];
  /** Targets that were not made, and why. */
  readonly failures: readonly {
    readonly target: string;
    readonly reason: string;
  }[];
}

/**
 * Makes `sig-<version>-<target>.tar.gz` for each target, with the executables,
 * the README, the licence and the lock in one folder, and `SHA256SUMS` over the archives.
 * `tar` unpacks them on every one of the targets, Windows too.
 */
export async function makeRelease(
  { folder, targets = TARGETS, root = ROOT, compile = compileExecutable }:
    ReleaseOptions,
): Promise<Release> {
  await Deno.mkdir(folder, { recursive: true });
  for await (const { name } of Deno.readDir(folder)) {
    if (OURS.test(name)) await Deno.remove(`${folder}/${name}`);
  }
  const archives: string[] = [];
  const failures: { target: string; reason: string }[] = [];
  const sums: string[] = [];
  for (const target of targets) {
    const name = `sig-${VERSION}-${target}`;
    const content = `${folder}/${name}`;
    try {
      await Deno.mkdir(content);
      for (const executable of EXECUTABLES) {
        await compile(executable, { folder: content, target, root });
      }
      for (const file of ["README.md", "LICENSE", "deno.lock"]) {
        await Deno.copyFile(new URL(file, root), `${content}/${file}`);
      }
      const archive = `${name}.tar.gz`;
      await runProgram("tar", ["-czf", archive, name], folder);
      const bytes = await Deno.readFile(`${folder}/${archive}`);
      sums.push(`${await sha256(bytes)}  ${archive}\n`);
      archives.push(archive);
    } catch (error) {
      failures.push({ target, reason: (error as Error).message });
    } finally {
      await Deno.remove(content, { recursive: true });
    }
  }
  if (sums.length > 0) {
    await Deno.writeTextFile(`${folder}/SHA256SUMS`, sums.join(""));
  }
  return { archives, failures };
}

if (import.meta.main) {
  const { tests, rest } = splitTests(Deno.args);
  const { output, target } = parseArgs(rest, {
    string: ["output", "target"],
    collect: ["target"],
    default: { output: new URL("dist/release", ROOT).pathname },
    unknown: (arg) => fail(`there is no ${arg}`),
  });
  const unknown = target.find((each) => !TARGETS.includes(each));
  if (unknown !== undefined) fail(`there is no target ${unknown}`);
  let code = 1;
  try {
    await using copy = await makeReleaseCopy(ROOT, tests);
    const { archives, failures } = await makeRelease({
      folder: output,
      targets: target.length > 0 ? target : TARGETS,
      root: copy.root,
    });
    for (const archive of archives) console.log(`${output}/${archive}`);
    for (const { target, reason } of failures) {
      console.error(`NOT MADE ${target}: ${reason}`);
    }
    code = failures.length > 0 ? 1 : 0;
  } catch (error) {
    console.error(`Cannot make a release: ${(error as Error).message}`);
  }
  Deno.exit(code);
}

function fail(why: string): never {
  console.error(
    `Cannot make a release: ${why}. Targets: ${TARGETS.join(", ")}`,
  );
  Deno.exit(2);
}
