import { assertEquals, assertStringIncludes } from "@std/assert";

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

/** Where this run's own modules are cached. */
async function cacheDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}
