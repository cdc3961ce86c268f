import { assertEquals, assertStringIncludes } from "@std/assert";
import { createNewcomer } from "./docs/newcomer.ts";

const ROOT = new URL("..", import.meta.url);

Deno.test("the demo tells the whole story with an empty HOME", async () => {
  const home = await Deno.makeTempDir();
  const { DENO_DIR } = Deno.env.toObject();
  const result = await new Deno.Command(Deno.execPath(), {
    args: ["task", "demo"],
    cwd: ROOT,
    // The cache is not the demo's business; everything else of HOME is empty.
    env: { HOME: home, DENO_DIR: DENO_DIR ?? await cacheDir() },
  }).output();
  const output = new TextDecoder().decode(result.stdout);
  assertEquals(result.code, 0, new TextDecoder().decode(result.stderr));
  for (const word of ["allow", "deny", "revoked", "signature_invalid"]) {
    assertStringIncludes(output, word);
  }
  assertStringIncludes(output, "line 2");
  const left = await Array.fromAsync(Deno.readDir(home));
  assertEquals(left, [], "the demo left files behind");
  await Deno.remove(home, { recursive: true });
});

Deno.test({
  name: "the demo ends with three commands that work as they stand there",
  ignore: Deno.build.os === "windows",
  async fn() {
    const text = await Deno.readTextFile(new URL("tools/demo.ts", ROOT));
    const [, next] = /const NEXT = `([^`]+)`/.exec(text)!;
    const [install, web, help, ...more] = next!.split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    assertEquals(more, []);
    await using newcomer = await createNewcomer();
    const child = new Deno.Command("bash", {
      args: ["-c", `set -e\n${install}\n${help}\nexec ${web}`],
      cwd: ROOT,
      clearEnv: true,
      env: newcomer.env,
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let out = "";
    for await (
      const part of child.stdout.pipeThrough(new TextDecoderStream())
    ) {
      out += part;
      // The third one runs until it is stopped.
      if (/^http:\/\/127\.0\.0\.1:\d+$/m.test(out)) child.kill("SIGTERM");
    }
    assertEquals((await child.status).code, 0, out);
    assertStringIncludes(out, "Installed sig");
    assertStringIncludes(out, "Usage: sig check");
    assertStringIncludes(out, "http://127.0.0.1:");
  },
});

/** Where this run's own modules are cached. */
async function cacheDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}
