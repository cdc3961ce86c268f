/**
 * Deno 2.7.11 with its runtime for executables, both from npm: where the current
 * runtime can't be downloaded, executables are proved with these. @module
 */

import { V8_FLAGS } from "../../../tools/compile.ts";
import { sha256 } from "../../../tools/workspace.ts";
import { run, runWell } from "../../kit/process.ts";

/** The version of both: a runtime fits no other. */
const VERSION = "2.7.11";

/** An executable that was made with that version, published to npm. */
const PACKAGE = "@stdy/cli-linux-x64@0.22.2";

/** The runtime in it, and nothing else, is run by these tests. */
const RUNTIME_SHA256 =
  "f12d5d3886d5ea138304fb8d67d7396cfbedf53656676132152cb89f3fa4d8e6";

/** Downloads it once: afterwards npm has it. */
const PACK = ["pack", "--silent", "--prefer-offline"];

/** What {@linkcode findOldRuntime} looked for. */
export type Found = { readonly missing: string } | {
  readonly missing?: undefined;
  /** The path of Deno 2.7.11. */
  readonly deno: string;
};

/** Whether the machine can get both. */
export async function findOldRuntime(): Promise<Found> {
  const { arch, os } = Deno.build;
  if (os !== "linux" || arch !== "x86_64") {
    return { missing: `the runtime on npm is not for ${os} on ${arch}` };
  }
  try {
    const print = "console.log(Deno.execPath())";
    const args = ["-y", `deno@${VERSION}`, "eval", print];
    // Where there is no network this must not take minutes to see.
    const env = { npm_config_fetch_retries: "1" };
    const [deno, found] = await Promise.all([
      run("npx", args, { env }),
      run("npm", [...PACK, "--dry-run", PACKAGE], { env }),
    ]);
    if (deno.code === 0 && found.code === 0) {
      return { deno: deno.stdout.trim() };
    }
  } catch {
    // There is no npm.
  }
  return { missing: `npm can't get deno@${VERSION} and ${PACKAGE}` };
}

/** Fetches the runtime into a folder, and returns its path. */
export async function fetchOldRuntime(folder: string): Promise<string> {
  const args = [...PACK, "--pack-destination", folder, PACKAGE];
  const archive = (await runWell("npm", args)).trim();
  await runWell("tar", ["-xzf", archive, "package/bin/steady"], {
    cwd: folder,
  });
  const program = await Deno.readFile(`${folder}/package/bin/steady`);
  const runtime = cutRuntime(program);
  const digest = await sha256(runtime);
  if (digest !== RUNTIME_SHA256) {
    throw new Error(`Cannot use the runtime: its SHA-256 is ${digest}`);
  }
  const path = `${folder}/denort`;
  await Deno.writeFile(path, runtime, { mode: 0o755 });
  return path;
}

/** What Deno 2.7.11 needs in place of the official flags. */
export const OLD_FLAGS: readonly string[] = [
  "--quiet",
  "--no-check",
  "--no-lock",
  "--no-prompt",
  // Imports of texts were unstable then.
  "--unstable-raw-imports",
  V8_FLAGS,
];

/** The variables for that Deno. */
export function oldRuntimeEnv(runtime: string): Record<string, string> {
  return {
    DENORT_BIN: runtime,
    DENO_NO_UPDATE_CHECK: "1",
    // It does not look at certificates that the system trusts by itself.
    DENO_TLS_CA_STORE: "system",
  };
}

/** What stands before the program that `deno compile` appends. */
const MAGIC = "d3n0l4nd";

/**
 * Takes the runtime out of an executable made by `deno compile` (Linux, Deno 2.0
 * to 2.7): what comes before the appended program.
 *
 * @throws {RangeError} when there is none, or it is not an ELF file.
 */
function cutRuntime(
  executable: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const view = new DataView(executable.buffer, executable.byteOffset);
  if (executable.length < 64 || view.getUint32(0) !== 0x7f454c46) {
    throw new RangeError("Cannot cut out a runtime: it must be an ELF file");
  }
  // The ELF header's e_shoff, e_shentsize and e_shnum: the table of sections
  // is the last part of the runtime.
  const end = Number(view.getBigUint64(0x28, true)) +
    view.getUint16(0x3a, true) * view.getUint16(0x3c, true);
  const magic = executable.subarray(end, end + MAGIC.length);
  if (new TextDecoder().decode(magic) !== MAGIC) {
    throw new RangeError("Cannot cut out a runtime: no program is appended");
  }
  return executable.subarray(0, end);
}
