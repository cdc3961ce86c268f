/** The packed libraries in Node 22, Bun and workerd. @module */

import { assert, assertEquals } from "@std/assert";
import { packLibraries } from "../../tools/pack.ts";
import { readBlocks } from "../docs/read_blocks.ts";
import {
  freePort,
  isCi,
  ROOT,
  run,
  runWell,
  tempFolder,
  TestProcess,
} from "../kit/process.ts";
import { npmPackages } from "../kit/npm_packages.ts";
import { retry } from "../kit/wait.ts";
import { serveLoopback } from "../kit/loopback.ts";

const PAGE = new URL("../../docs/node.md", import.meta.url);
const blocks = readBlocks(await Deno.readTextFile(PAGE));

function block(language: string): string {
  return blocks.find((each) => each.language === language)!.text;
}

const packages = await npmPackages([
  ...["node@22", "pnpm@12.21.0", "bun@1.4.5"],
  ...["esbuild@0.28.2", "workerd@1"],
]);
const bin = `${packages}/.bin`;

/** Returns the address of the registry that npm uses here. */
async function registryOfNpm(): Promise<string> {
  const { stdout } = await run("npm", ["config", "get", "registry"]);
  return stdout.trim().replace(/\/$/, "");
}

/** A registry that has every package but those of this project. */
async function startRegistry() {
  const upstream = await registryOfNpm();
  const refused: string[] = [];
  const server = serveLoopback(async (request) => {
    const { pathname, search } = new URL(request.url);
    if (/^\/@sig(?:\/|%2f)/i.test(pathname)) {
      refused.push(pathname);
      return new Response("no such package", { status: 500 });
    }
    const accept = request.headers.get("accept") ?? "*/*";
    const { body, headers, status } = await fetch(
      upstream + pathname + search,
      { headers: { accept } },
    );
    const type = headers.get("content-type") ?? "application/octet-stream";
    return new Response(body, { status, headers: { "content-type": type } });
  });
  return { server, refused };
}

/** What a program can do with each library alone, in Node. */
const PROGRAMS: Readonly<Record<string, string>> = {
  core: `
import { isSigError, parseQuestion } from "@sig/core";
try {
  parseQuestion({ subject: "x", require: ["role=a"], as_of: 3 });
} catch (error) {
  console.log(isSigError(error), error.message);
}`,
  jose: `
import { generateSigningKey } from "@sig/jose";
console.log((await generateSigningKey({ kid: "k" })).kid);`,
  issuer: `
import { createFileKeyStore, createFileStore, createMemoryStore } from "@sig/issuer";
import { FEED_STORE_RULES } from "@sig/issuer/store-contract";
import { fakeIssuer } from "@sig/issuer/testing";
for (const [, hold] of FEED_STORE_RULES) {
  const store = createMemoryStore();
  await hold(store);
  await store.close();
}
const issuer = await fakeIssuer({ did: "did:web:acme.example" });
await issuer.upsert({ subject: "did:web:a.example", relationship_type: "employee" });
const feed = "https://acme.example/.well-known/sig/events.jsonl";
const response = await issuer.fetch(new Request(feed));
console.log((await response.text()).split("\\n").length, response.headers.has("etag"));
for (const open of [createFileStore, createFileKeyStore]) {
  try {
    open("acme");
  } catch (error) {
    console.log(error.code, error.message);
  }
}`,
  consumer: `
import { openPinStore } from "@sig/consumer/pins";
import { createMemoryStore } from "@sig/consumer/store";
import { RECORD_STORE_RULES } from "@sig/consumer/store-contract";
for (const { verify } of RECORD_STORE_RULES) {
  const store = createMemoryStore();
  await verify({ store, close: () => store.close() });
}
const pins = await openPinStore("pins.db");
console.log(pins.place);
await pins[Symbol.asyncDispose]();
for (const place of ["kv:pins.kv", "redis://127.0.0.1:1"]) {
  try {
    await openPinStore(place);
  } catch (error) {
    console.log(error.code, error.message);
  }
}`,
};

const NO_FOLDER =
  "invalid_request Cannot use folder: an issuer in a folder needs Deno, since Node can't lock files (flock)";

const PRINTED: Readonly<Record<string, readonly string[]>> = {
  core: [
    'true Cannot check: there is no member "as_of"; did you mean "asOf"?',
  ],
  jose: ["k"],
  issuer: ["2 true", NO_FOLDER, NO_FOLDER],
  consumer: [
    "pins.db",
    "store_unavailable Cannot use store kv:pins.kv: only Deno offers KV",
    "store_unavailable Cannot use store redis://127.0.0.1:1/0: the package @redis/client can't be loaded",
  ],
};

/**
 * The package managers that install each library alone; npm installs all of
 * them for the document. Issuer and consumer contain other libraries.
 */
const INSTALLED_BY: Readonly<Record<string, readonly string[]>> = {
  core: ["bun"],
  jose: ["bun"],
  issuer: ["bun", "npm"],
  consumer: ["bun", "pnpm"],
};

const ASK = 'import program from "./worker.mjs";\n' +
  "console.log(await (await program.fetch()).text());\n";

/** A configuration of workerd that serves `out.js`. */
const workerdConfig = (port: number) => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "out.js", esModule = embed "out.js")],
    compatibilityDate = "2026-01-01",
    compatibilityFlags = ["nodejs_compat"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
`;

Deno.test("a Deno project links the checkout as the document says", async () => {
  await using folder = await tempFolder();
  const root = ROOT.pathname.replace(/\/$/, "");
  const config = JSON.parse(block("json").replaceAll("../sig", root));
  // Where JSR can't be reached, its packages are linked too.
  for (const name of ["assert", "csv", "encoding", "ulid"]) {
    config.links.push(`${root}/links/std-${name}`);
  }
  const write = (name: string, text: string) =>
    Deno.writeTextFile(`${folder.path}/${name}`, text);
  await write("deno.json", JSON.stringify(config));
  await write("worker.mjs", block("js"));
  await write("try.ts", ASK);
  const at = { cwd: folder.path };
  const printed = await runWell(Deno.execPath(), ["run", "try.ts"], at);
  assertEquals(printed, "allow\n");
});

Deno.test({
  name: "the packed libraries run in Node 22, Bun and workerd",
  ignore: packages === undefined && !isCi,
  fn: async (t) => {
    assert(packages, "npm can't get Node 22, pnpm, Bun, esbuild and workerd");
    await using packed = await tempFolder();
    const tarballs = await packLibraries(packed.path);
    const { server, refused } = await startRegistry();
    await using _ = server;
    const registry = `${server.origin}/`;
    const managers: Readonly<Record<string, readonly string[]>> = {
      npm: ["npm", "install", "--no-audit", "--no-fund"],
      pnpm: [`${bin}/pnpm`, "add"],
      bun: [`${bin}/bun`, "add"],
    };
    for (const path of tarballs) {
      const [, name = ""] = /sig-(\w+)-[^/]*$/.exec(path)!;
      for (const manager of INSTALLED_BY[name]!) {
        await t.step(
          `${manager} installs ${name} alone, and asks no registry for @sig`,
          async () => {
            await using folder = await tempFolder();
            const at = { cwd: folder.path };
            const write = (file: string, text: string) =>
              Deno.writeTextFile(`${folder.path}/${file}`, text);
            await write("package.json", '{"type":"module"}');
            await write("try.mjs", PROGRAMS[name]!);
            const [program = "", ...words] = managers[manager]!;
            await runWell(program, [...words, path], {
              ...at,
              env: {
                npm_config_registry: registry,
                npm_config_cache: `${folder.path}/.cache`,
                npm_config_store_dir: `${folder.path}/.store`,
                BUN_CONFIG_REGISTRY: registry,
                BUN_INSTALL_CACHE_DIR: `${folder.path}/.cache`,
              },
            });
            const args = ["--disable-warning=ExperimentalWarning", "try.mjs"];
            const printed = await runWell(`${bin}/node`, args, at);
            assertEquals(printed.trimEnd().split("\n"), PRINTED[name]!);
          },
        );
      }
    }
    for (const path of tarballs) {
      const args = ["-xOzf", path, "package/package.json"];
      const json = JSON.parse(await runWell("tar", args));
      assertEquals(json.engines, { node: ">=22" });
      const names = Object.keys(json.dependencies);
      assertEquals(names, [], path);
    }

    await using folder = await tempFolder();
    const at = { cwd: folder.path };
    const write = (name: string, text: string) =>
      Deno.writeTextFile(`${folder.path}/${name}`, text);
    await t.step("the program of the document runs in Node", async () => {
      const commands = block("sh")
        .replace("npx -y deno@2.9.6 task pack\n", "")
        .replace('ROOT=$PWD && cd "$(mktemp -d)"\n', "")
        .replace('"$ROOT"/dist/npm', packed.path);
      const printed = await runWell("bash", ["-ec", commands], {
        ...at,
        env: { npm_config_registry: registry },
      });
      assertEquals(printed.trimEnd(), block("text").trimEnd());
      assertEquals(refused, []);
    });
    await write("package.json", '{"type":"module"}');
    await write("worker.mjs", block("js"));
    await write("ask.mjs", ASK);
    await t.step("the other one runs in Bun", async () => {
      assertEquals(await runWell(`${bin}/bun`, ["ask.mjs"], at), "allow\n");
    });
    const [, command = ""] = /^(esbuild .+)$/m.exec(
      blocks.find(({ text }) => text.startsWith("esbuild"))!.text,
    )!;
    await runWell(`${bin}/esbuild`, command.split(" ").slice(1), at);
    await t.step("and bundled in Node", async () => {
      await write("ask.mjs", ASK.replace("worker.mjs", "out.js"));
      assertEquals(await runWell(`${bin}/node`, ["ask.mjs"], at), "allow\n");
    });
    await t.step("and bundled in workerd", async () => {
      const port = freePort();
      await write("config.capnp", workerdConfig(port));
      const args = ["serve", "config.capnp"];
      await using workerd = new TestProcess(`${bin}/workerd`, args, at);
      await workerd.listens(port);
      const response = await retry(() => fetch(`http://127.0.0.1:${port}/`));
      assertEquals([response.status, await response.text()], [200, "allow"]);
    });
  },
});
