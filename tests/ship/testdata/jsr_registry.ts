/**
 * A JSR registry on loopback. It accepts `deno publish`, refuses packages that
 * JSR refuses, and serves `jsr:` imports, with the part of the API and file
 * layout that Deno uses.
 * @module
 */

import { readLinks } from "../../../tools/release_copy.ts";
import { filesBelow } from "./files_below.ts";
import { serveLoopback } from "../../kit/loopback.ts";
import { runWell } from "../../kit/process.ts";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ts: "text/typescript",
  js: "text/javascript",
};

/** A running registry. */
export interface JsrRegistry extends AsyncDisposable {
  /** The value of `JSR_URL`. */
  readonly url: string;
  /** The folder of packages: `@scope/name/version/…`. */
  readonly folder: string;
}

/** The registry for packages that are not published here. */
const JSR = Deno.env.get("JSR_URL") ?? "https://jsr.io";

/**
 * A legal comment in each module of `@std` that is served here, which bundlers
 * keep.
 */
export const LEGAL_COMMENT = "/*! from the registry of the tests */";

/**
 * Starts a registry without published packages. It serves the packages that the
 * configuration replaces by links, and fetches all others from JSR.
 *
 * @param root The folder of the configuration.
 */
export async function startJsrRegistry(root: URL): Promise<JsrRegistry> {
  const folder = await Deno.makeTempDir({ prefix: "jsr-" });
  for (const link of await readLinks(root)) await addLinked(folder, link);
  const server = serveLoopback((request) => answer(folder, request));
  return {
    url: `${server.origin}/`,
    folder,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const API_PATH =
  /^\/api\/scopes\/([\w-]+)\/packages\/([\w-]+)(?:\/versions\/([\w.-]+))?$/;
const META_PATH = /^(\/@[\w-]+\/[\w-]+)\/(?:([\w.-]+)_)?meta\.json$/;

async function answer(folder: string, request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  const api = API_PATH.exec(path);
  if (api !== null) {
    const [, scope, name, version] = api;
    if (request.method === "GET") {
      return Response.json({}, { status: version === undefined ? 200 : 404 });
    }
    const target = `${folder}/@${scope}/${name}/${version}`;
    await unpack(await request.bytes(), target);
    const error = await refusalOf(target);
    if (error !== null) await Deno.remove(target, { recursive: true });
    const status = error === null ? "success" : "failure";
    return Response.json({ id: "1", status, error });
  }
  try {
    const [, pkg, version] = META_PATH.exec(path) ?? [];
    if (version !== undefined) {
      return Response.json(await versionMeta(`${folder}${pkg}/${version}`));
    }
    if (pkg !== undefined) {
      return Response.json(await packageMeta(folder + pkg));
    }
    const extension = /\.(\w+)$/.exec(path)?.[1] ?? "";
    return new Response(await Deno.readFile(folder + path), {
      headers: { "content-type": MEDIA_TYPES[extension] ?? "text/plain" },
    });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    // Packages of this scope exist only here.
    return path.startsWith("/@sig/")
      ? new Response("not found", { status: 404 })
      : await fetch(new URL(path, JSR));
  }
}

const MAX_BYTES = 20 * 1024 * 1024;

/** The used part of `deno info --json`. */
interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly specifier: string;
      readonly assertionType?: string;
    }[];
  }[];
}

/**
 * Refuses packages as JSR's server does (jsr-io/jsr, August 2026:
 * `api/src/tarball.rs`, `api/src/analysis.rs`): more than 20 MB, and imports
 * with another type than JSON. `deno publish` itself checks JSR's other rules.
 */
export async function refusalOf(
  folder: string,
): Promise<{ readonly code: string; readonly message: string } | null> {
  let total = 0;
  for await (const path of filesBelow(folder)) {
    total += (await Deno.lstat(folder + path)).size;
  }
  if (total > MAX_BYTES) {
    return { code: "packageTooLarge", message: `${total}` };
  }
  const config = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
  for (const path of Object.values<string>(exportsOf(config))) {
    // No configuration of a parent folder may apply to the package.
    const args = ["info", "--quiet", "--json", "--no-config", "--no-lock"];
    const text = await runWell(
      Deno.execPath(),
      [...args, "--no-remote", "--no-npm", `${folder}/${path}`],
      { cwd: folder },
    );
    const { modules }: Graph = JSON.parse(text);
    for (const { specifier, dependencies = [] } of modules) {
      if (!specifier.startsWith("file:")) continue;
      for (const { assertionType: type, specifier: named } of dependencies) {
        if (type === undefined || type === "json") continue;
        const message =
          `failed to build module graph: The import attribute type of "${type}" is unsupported. ${specifier}: ${named}`;
        return { code: "graphError", message };
      }
    }
  }
  return null;
}

function exportsOf({ exports }: {
  exports: string | Readonly<Record<string, string>>;
}): Readonly<Record<string, string>> {
  return typeof exports === "string" ? { ".": exports } : exports;
}

async function packageMeta(folder: string) {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return {
    latest: entries[0]?.name,
    versions: Object.fromEntries(entries.map(({ name }) => [name, {}])),
  };
}

async function versionMeta(folder: string) {
  const manifest: Record<string, { size: number; checksum: string }> = {};
  for await (const path of filesBelow(folder)) {
    const bytes = await Deno.readFile(folder + path);
    const hash = await crypto.subtle.digest("SHA-256", bytes);
    const checksum = `sha256-${new Uint8Array(hash).toHex()}`;
    manifest[path] = { size: bytes.length, checksum };
  }
  const config = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
  return { manifest, exports: exportsOf(config) };
}

async function unpack(tgz: Uint8Array<ArrayBuffer>, folder: string) {
  await Deno.mkdir(folder, { recursive: true });
  const archive = `${folder}.tgz`;
  await Deno.writeFile(archive, tgz);
  await runWell("tar", ["xzf", archive, "-C", folder]);
  await Deno.remove(archive);
}

async function addLinked(folder: string, link: string): Promise<void> {
  const config = JSON.parse(await Deno.readTextFile(`${link}/deno.json`));
  const target = `${folder}/${config.name}/${config.version}`;
  await Deno.mkdir(target, { recursive: true });
  for await (const path of filesBelow(link)) {
    let text = await Deno.readTextFile(link + path);
    for (const [from, to] of Object.entries<string>(config.imports ?? {})) {
      const resolved = to.replace("npm:/", "npm:");
      text = text.replaceAll(`from "${from}`, `from "${resolved}`);
    }
    if (path.endsWith(".js")) text += `${LEGAL_COMMENT}\n`;
    await Deno.writeTextFile(target + path, text);
  }
}
