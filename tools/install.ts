/**
 * Bundles `sig`, `sig-api` and `sig-web` of this checkout, and installs
 * launchers of the bundle to a folder. Run by `deno task install [FOLDER]`.
 *
 * @module
 */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isLauncher, shellLauncher, windowsLauncher } from "./launcher.ts";
import { bundledEntry, bundlePrograms, EXECUTABLES } from "./programs.ts";
import { ROOT, sha256 } from "./workspace.ts";

const HELP = `Installs the commands sig, sig-api and sig-web to a folder.

Usage: deno task install [FOLDER]

FOLDER is the target (default: ~/.local/bin). Existing launchers are replaced,
other files are never overwritten. To uninstall, delete the three files.
`;

const isWindows = Deno.build.os === "windows";

/** What an installation uses; tests pass their own. */
export interface InstallOptions {
  /** Reads an environment variable (default: of this process). */
  readonly env?: (name: string) => string | undefined;
  /** Bundles the programs and returns the folder (default: in `dist`). */
  readonly bundle?: () => string | Promise<string>;
}

/** An expected error, whose message is printed for the user. */
class Refusal extends Error {}

type Env = NonNullable<InstallOptions["env"]>;

function readFolder(args: readonly string[], env: Env): string {
  const [folder, ...more] = args;
  if (more.length > 0 || folder?.startsWith("-")) {
    throw new Refusal(`Cannot install: one folder is expected.\n\n${HELP}`);
  }
  const home = env(isWindows ? "USERPROFILE" : "HOME");
  // deno task runs in the checkout, but a relative path means the user's
  // folder.
  const path = folder === undefined
    ? home && `${home}/.local/bin`
    : resolve(env("INIT_CWD") ?? Deno.cwd(), folder);
  if (!path) {
    throw new Refusal("Cannot install: HOME is not set. Name a folder.");
  }
  try {
    Deno.mkdirSync(path, { recursive: true });
    return Deno.realPathSync(path);
  } catch (error) {
    throw new Refusal(`Cannot install into ${path}: ${messageOf(error)}`);
  }
}

/** Throws if a file exists that is not a launcher, or is a link. */
function requireOurs(path: string): void {
  let text: string;
  try {
    text = Deno.lstatSync(path).isFile ? Deno.readTextFileSync(path) : "";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw new Refusal(`Cannot read ${path}: ${messageOf(error)}`);
  }
  if (isLauncher(text)) return;
  throw new Refusal(
    `Cannot install: ${path} exists and is not a launcher of sig. Nothing ` +
      "was written.\nName another folder: deno task install FOLDER",
  );
}

/**
 * Bundles the programs into a folder of the checkout that is named after its
 * content: a running program keeps the files that it has not loaded yet. A
 * folder that exists gets the files again, since some may be lost or damaged.
 */
async function bundle(): Promise<string> {
  const dist = fileURLToPath(new URL("dist", ROOT));
  const temporary = `${dist}/${crypto.randomUUID()}`;
  try {
    // Other users may run the programs, unlike those of `makeTempDir`.
    Deno.mkdirSync(temporary, { recursive: true });
    await bundlePrograms(temporary);
    // The entries name all other files, whose names contain digests.
    const named = [...EXECUTABLES.map(bundledEntry), "redis_client.js"]
      .map((each) => Deno.readTextFileSync(`${temporary}/${each}`));
    const digest = await sha256(new TextEncoder().encode(named.join("")));
    const folder = `${dist}/programs-${digest.slice(0, 16)}`;
    moveFiles(temporary, folder);
    return folder;
  } catch (error) {
    throw new Refusal(`Cannot bundle the programs: ${messageOf(error)}`);
  } finally {
    if (exists(temporary)) Deno.removeSync(temporary, { recursive: true });
  }
}

/** Moves all files of a folder; each replaces an equal one atomically. */
function moveFiles(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    const move = isDirectory ? moveFiles : Deno.renameSync;
    move(`${from}/${name}`, `${to}/${name}`);
  }
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** Replaces a launcher atomically, since a running shell may be reading it. */
function write(path: string, text: string): void {
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    Deno.writeTextFileSync(temporary, text, { createNew: true, mode: 0o755 });
    if (!isWindows) Deno.chmodSync(temporary, 0o755); // regardless of the umask
    Deno.renameSync(temporary, path);
  } catch (error) {
    throw new Refusal(`Cannot write ${path}: ${messageOf(error)}`);
  }
}

/** Returns instructions to add the folder to PATH, if it is missing. */
function adviseOnPath(folder: string, env: Env): string {
  const folders = (env("PATH") ?? "").split(isWindows ? ";" : ":");
  const found = folders.find((each) => {
    try {
      return Deno.realPathSync(each) === folder ||
        Deno.statSync(`${each}/${isWindows ? "sig.cmd" : "sig"}`).isFile;
    } catch {
      return false; // missing or unreadable
    }
  });
  if (found !== undefined && Deno.realPathSync(found) === folder) {
    return "Try:  sig --help\n";
  }
  const before = found === undefined
    ? `${folder} is not in your PATH.`
    : `Another sig is found first, in ${found}.`;
  if (isWindows) {
    return `${before} For this window and all later ones:\n\n` +
      `  set "PATH=${folder};%PATH%"\n  setx PATH "${folder};%PATH%"\n`;
  }
  const shell = env("SHELL")?.split("/").at(-1);
  if (shell === "fish") {
    return `${before} For this terminal and all later ones:\n\n` +
      `  fish_add_path --move '${folder}'\n`;
  }
  const line = `export PATH="${folder.replaceAll(/["$\\`]/g, "\\$&")}:$PATH"`;
  const file = shell === "zsh" ? "~/.zshrc" : "~/.bashrc";
  return `${before} For this terminal:\n\n  ${line}\n\n` +
    `For all later ones write the same line into ${file}.\n`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown reason";
}

/**
 * Installs the launchers, and returns what to print.
 *
 * @throws {Error} a `Refusal`, before anything is replaced if the folder has
 *   other files of these names.
 */
export async function install(
  args: readonly string[],
  { env = (name) => Deno.env.get(name), bundle: makeBundle = bundle }:
    InstallOptions = {},
): Promise<string> {
  if (args.includes("--help")) return HELP;
  const folder = readFolder(args, env);
  const pathOf = (name: string) =>
    `${folder}/${name}${isWindows ? ".cmd" : ""}`;
  for (const { name } of EXECUTABLES) requireOurs(pathOf(name));
  const bundled = await makeBundle();
  const options = {
    deno: Deno.execPath(),
    bundle: bundled,
    names: [...Deno.readDirSync(bundled)].length,
  };
  const launcher = isWindows ? windowsLauncher : shellLauncher;
  for (const executable of EXECUTABLES) {
    write(pathOf(executable.name), launcher(executable, options));
  }
  return `Installed sig, sig-api and sig-web in ${folder}\n` +
    adviseOnPath(folder, env);
}

if (import.meta.main) {
  try {
    console.log(await install(Deno.args));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(error.message);
    Deno.exit(1);
  }
}
