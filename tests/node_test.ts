import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../", import.meta.url);
const VECTORS = new URL(
  Deno.env.get("SIG_VECTORS") ?? "../shared/vectors",
  ROOT,
);
const IS_CI = Deno.env.get("SIG_CI") === "1";

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(command: string, args: readonly string[]): Promise<Outcome> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd: ROOT,
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/** Node 22, by way of npm; it need not be installed. */
function node(...args: string[]): Promise<Outcome> {
  return run("npx", ["-y", "node@22", ...args]);
}

/** What this machine lacks for the test, undefined when nothing. */
async function findMissing(): Promise<string | undefined> {
  try {
    await Deno.stat(VECTORS);
  } catch {
    return "the test vectors are not there";
  }
  try {
    const { code, stdout } = await node("--version");
    if (code === 0 && stdout.startsWith("v22.")) return undefined;
  } catch {
    // There is no npx.
  }
  return "Node 22 can't be run";
}

const missing = await findMissing();

Deno.test({
  name: "core and jose pass the vectors under Node 22, nothing is polluted",
  ignore: missing !== undefined && !IS_CI,
  fn: async () => {
    assertEquals(missing, undefined);
    const folder = await Deno.makeTempDir();
    try {
      const bundle = `${folder}/runner.mjs`;
      const bundled = await run(Deno.execPath(), [
        "bundle",
        "--quiet",
        "--platform=browser",
        "--external=node:*",
        `--output=${bundle}`,
        "tools/node_runner/main.ts",
      ]);
      assertEquals(bundled.code, 0, bundled.stderr);
      const { code, stdout, stderr } = await node(
        bundle,
        decodeURIComponent(VECTORS.pathname),
      );
      assertEquals(code, 0, stdout + stderr);
      const lines = stdout.trimEnd().split("\n");
      assertEquals(lines.length, 9, stdout);
      assert(lines.every((line) => line.startsWith("ok ")), stdout);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("the Node runner names what is wrong, and a suite without cases fails", async () => {
  const folder = await Deno.makeTempDir();
  const write = async (path: string, value: unknown) => {
    await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ""), {
      recursive: true,
    });
    await Deno.writeTextFile(`${folder}/${path}`, JSON.stringify(value));
  };
  try {
    // A good text under the name of a bad one.
    await write("jsontestsuite/test_parsing/n_good.json", {});
    await write("own/timestamps.json", [{ value: "now", expect: "accept" }]);
    await write("own/didweb.json", []);
    await write("own/envelopes.json", { jwksSets: {}, cases: [] });
    await write("wycheproof/ed25519_test.json", { testGroups: [] });
    const { code, stdout } = await run(Deno.execPath(), [
      "run",
      "--allow-read",
      "tools/node_runner/main.ts",
      folder,
    ]);
    assertEquals(stdout.trimEnd().split("\n"), [
      "FAILED jsontestsuite: 0/1, wrong: n_good.json",
      'FAILED timestamps: 0/1, wrong: "now"',
      "FAILED didweb: 0/0",
      "ok base64url: 24320/24320",
      "FAILED envelopes (node:crypto): 0/0",
      "FAILED envelopes (WebCrypto): 0/0",
      "FAILED wycheproof (node:crypto): 0/0",
      "FAILED wycheproof (WebCrypto): 0/0",
      "ok prototype pollution: 43/43",
    ]);
    assertEquals(code, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
