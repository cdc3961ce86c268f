/**
 * Deno 2.7.11 and its runtime for executables, both from npm, which test
 * executables on machines that can't download the current runtime. @module
 */

import { V8_FLAGS } from "../../../tools/programs.ts";
import { sha256 } from "../../../tools/workspace.ts";
import { npmPackages } from "../../kit/npm_packages.ts";

/** The version of both, which must be the same. */
const VERSION = "2.7.11";

/** An executable that was compiled with that version and published to npm. */
const PACKAGE = "@stdy/cli-linux-x64@0.22.2";

/** Digest of its runtime, the only part that the tests run. */
const RUNTIME_SHA256 =
  "f12d5d3886d5ea138304fb8d67d7396cfbedf53656676132152cb89f3fa4d8e6";

/**
 * The result of {@linkcode findOldRuntime}: paths, or the reason why they are
 * missing.
 */
export type Found = { readonly missing: string } | {
  readonly missing?: undefined;
  /** The path of Deno 2.7.11. */
  readonly deno: string;
  /** The path of a program that contains the runtime. */
  readonly program: string;
};

/** Finds Deno 2.7.11, if npm can download it and the runtime. */
export async function findOldRuntime(): Promise<Found> {
  const { arch, os } = Deno.build;
  if (os !== "linux" || arch !== "x86_64") {
    return { missing: `the runtime on npm is not for ${os} on ${arch}` };
  }
  const packages = await npmPackages([`deno@${VERSION}`, PACKAGE], {
    npm_config_ignore_scripts: "true",
  });
  return packages === undefined
    ? { missing: `npm can't get deno@${VERSION} and ${PACKAGE}` }
    : {
      deno: `${packages}/@deno/linux-x64-glibc/deno`,
      program: `${packages}/@stdy/cli-linux-x64/bin/steady`,
    };
}

/** Writes the runtime to a folder and returns its path. */
export async function writeOldRuntime(
  folder: string,
  program: string,
): Promise<string> {
  const runtime = cutRuntime(await Deno.readFile(program));
  const digest = await sha256(runtime);
  if (digest !== RUNTIME_SHA256) {
    throw new Error(`Cannot use the runtime: its SHA-256 is ${digest}`);
  }
  const path = `${folder}/denort`;
  await Deno.writeFile(path, runtime, { mode: 0o755 });
  return path;
}

/** Flags of Deno 2.7.11 instead of the official ones. */
export const OLD_FLAGS: readonly string[] = [
  "--quiet",
  "--no-check",
  "--no-lock",
  "--no-prompt",
  V8_FLAGS,
];

/** Returns the environment variables for that Deno. */
export function oldRuntimeEnv(runtime: string): Record<string, string> {
  return {
    DENORT_BIN: runtime,
    DENO_NO_UPDATE_CHECK: "1",
    // That version does not use the system's certificates by default.
    DENO_TLS_CA_STORE: "system",
  };
}

/** Marks the beginning of the program that `deno compile` appends. */
const MAGIC = "d3n0l4nd";

/**
 * Returns the runtime in an executable of `deno compile` (Linux, Deno 2.0 to
 * 2.7): the bytes before the appended program.
 *
 * @throws {RangeError} if there is no program, or the file is not ELF.
 */
function cutRuntime(
  executable: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const view = new DataView(executable.buffer, executable.byteOffset);
  if (executable.length < 64 || view.getUint32(0) !== 0x7f454c46) {
    throw new RangeError("Cannot cut out a runtime: it must be an ELF file");
  }
  // The ELF header's e_shoff, e_shentsize and e_shnum: the section table is the
  // last part of the runtime.
  const end = Number(view.getBigUint64(0x28, true)) +
    view.getUint16(0x3a, true) * view.getUint16(0x3c, true);
  const magic = executable.subarray(end, end + MAGIC.length);
  if (new TextDecoder().decode(magic) !== MAGIC) {
    throw new RangeError("Cannot cut out a runtime: no program is appended");
  }
  return executable.subarray(0, end);
}
