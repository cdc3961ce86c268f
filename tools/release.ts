/**
 * Creates the archives of a release in `dist/release/`, one for each target,
 * and `SHA256SUMS`. Run by `deno task release`, or for some targets only:
 *
 * ```sh
 * deno task release --target x86_64-unknown-linux-gnu --output /tmp/release
 * ```
 *
 * `DENORT_BIN` names a local runtime; use it with its target only.
 *
 * If the runtime of a target can't be downloaded, the reason is printed and the
 * other archives are created. The exit code is then 1, so that `deno task
 * release && upload` never publishes an incomplete release.
 *
 * The executables are compiled in a tested copy without links
 * (`release_copy.ts`), since users must trust all of their content. The lock of
 * the copy, with the digest of each dependency, is part of the archive.
 * `--tests=PATH` runs only these tests.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { compileExecutable } from "./compile.ts";
import { bundlePrograms, EXECUTABLES } from "./programs.ts";
import { makeReleaseCopy, splitTests } from "./release_copy.ts";
import { ROOT, runProgram, sha256, VERSION } from "./workspace.ts";

/** The targets of a release. */
export const TARGETS: readonly string[] = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
];

/** Matches files of an earlier run, which must not be part of this release. */
const OURS = /^(?:sig-.+\.tar\.gz|SHA256SUMS)$/;

/** Options of {@linkcode makeRelease}. */
export interface ReleaseOptions {
  /** Output folder; archives of an earlier run are removed. */
  readonly folder: string;
  /** The folder of the bundle (`bundlePrograms`). */
  readonly bundle: string;
  /** The targets (default: {@linkcode TARGETS}). */
  readonly targets?: readonly string[];
  /**
   * The checkout of the bundle; its URL ends with a slash (default: this
   * checkout).
   */
  readonly root?: URL;
  /** Compiles an executable (default: {@linkcode compileExecutable}). */
  readonly compile?: typeof compileExecutable;
}

/** The result of {@linkcode makeRelease}. */
export interface Release {
  /** Names of the created archives. */
  readonly archives: readonly string[];
  /** Failed targets with their reasons. */
  readonly failures: readonly {
    readonly target: string;
    readonly reason: string;
  }[];
}

/**
 * Creates `sig-<version>-<target>.tar.gz` for each target, with the
 * executables, the README, the licence and the lock in one folder, and
 * `SHA256SUMS` of the archives. `tar` unpacks them on all targets, including
 * Windows.
 */
export async function makeRelease(
  { folder, bundle, root = ROOT, ...options }: ReleaseOptions,
): Promise<Release> {
  const { targets = TARGETS, compile = compileExecutable } = options;
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
        await compile(executable, { folder: content, bundle, target });
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
    const bundle = `${decodeURIComponent(copy.root.pathname)}dist/bundle`;
    await bundlePrograms(bundle, copy.root);
    const { archives, failures } = await makeRelease({
      folder: output,
      bundle,
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
