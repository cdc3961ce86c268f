import { assertEquals } from "@std/assert";
import { packLibraries } from "../../tools/pack.ts";
import { readBlocks } from "../docs/read_blocks.ts";
import { isCi, run, runWell, tempFolder } from "../kit/process.ts";
import { serveLoopback } from "../kit/loopback.ts";

const PAGE = new URL("../../docs/node.md", import.meta.url);

/** Whether npm can get Node 22 here. */
async function hasNode(): Promise<boolean> {
  try {
    return (await run("npx", ["-y", "node@22", "--version"])).code === 0;
  } catch {
    return false;
  }
}

const ignore = !isCi && !await hasNode();

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

Deno.test({
  name:
    "each tarball alone is installed by npm, pnpm and bun, which ask no registry for @sig, and runs in Node 22",
  ignore,
  fn: async (t) => {
    await using packed = await tempFolder();
    const { server, refused } = await startRegistry();
    await using _ = server;
    const registry = `${server.origin}/`;
    await using tools = await tempFolder();
    await runWell(
      "npm",
      ["install", "--no-audit", "--no-fund", "pnpm@12.21.0", "bun@1.4.5"],
      { cwd: tools.path },
    );
    const bin = `${tools.path}/node_modules/.bin`;
    const managers: readonly (readonly [string, readonly string[]])[] = [
      ["npm", ["npm", "install", "--no-audit", "--no-fund"]],
      ["pnpm", [`${bin}/pnpm`, "add"]],
      ["bun", [`${bin}/bun`, "add"]],
    ];
    for (const path of await packLibraries(packed.path)) {
      const [, name = ""] = /sig-(\w+)-[^/]*$/.exec(path)!;
      for (const [manager, [program = "", ...args]] of managers) {
        await t.step(`${name} by ${manager}`, async () => {
          await using folder = await tempFolder();
          const at = { cwd: folder.path };
          const write = (file: string, text: string) =>
            Deno.writeTextFile(`${folder.path}/${file}`, text);
          await write("package.json", '{"type":"module"}');
          await write("try.mjs", PROGRAMS[name]!);
          await runWell(program, [...args, path], {
            ...at,
            env: {
              npm_config_registry: registry,
              npm_config_cache: `${folder.path}/.cache`,
              npm_config_store_dir: `${folder.path}/.store`,
              BUN_CONFIG_REGISTRY: registry,
              BUN_INSTALL_CACHE_DIR: `${folder.path}/.cache`,
            },
          });
          const printed = await runWell(
            "npx",
            ["-y", "node@22", "--disable-warning=ExperimentalWarning"]
              .concat("try.mjs"),
            at,
          );
          assertEquals(printed.trimEnd().split("\n"), PRINTED[name]!);
        });
      }
    }
    assertEquals(refused, []);
  },
});

Deno.test({
  name:
    "npm installs the packed libraries, and Node 22 runs the program of the document",
  ignore,
  fn: async () => {
    await using packed = await tempFolder();
    await using folder = await tempFolder();
    for (const path of await packLibraries(packed.path)) {
      const args = ["-xOzf", path, "package/package.json"];
      const json = JSON.parse(await runWell("tar", args));
      assertEquals(json.engines, { node: ">=22" });
      const names = Object.keys(json.dependencies);
      assertEquals(names.filter((name) => name !== "jose"), [], path);
    }
    const blocks = readBlocks(await Deno.readTextFile(PAGE));
    const commands = blocks.find(({ language }) => language === "sh")!.text
      .replace("npx -y deno@2.9.6 task pack\n", "")
      .replace('ROOT=$PWD && cd "$(mktemp -d)"\n', "")
      .replace('"$ROOT"/dist/npm', packed.path);
    const printed = await runWell("bash", ["-ec", commands], {
      cwd: folder.path,
    });
    const expected = blocks.find(({ language }) => language === "text")!.text;
    assertEquals(printed.trimEnd(), expected.trimEnd());
  },
});
