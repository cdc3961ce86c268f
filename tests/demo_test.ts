import { assertEquals, assertStringIncludes } from "@std/assert";
import { createNewcomer } from "./docs/newcomer.ts";
import {
  denoDir,
  ROOT,
  runWell,
  startServer,
  tempFolder,
} from "./kit/process.ts";

Deno.test("the demo runs to its end with an empty HOME", async () => {
  await using folder = await tempFolder();
  const home = folder.path;
  const output = await runWell(Deno.execPath(), ["task", "--quiet", "demo"], {
    cwd: ROOT,
    // The cache is shared with this run; everything else in HOME is empty.
    env: { HOME: home, DENO_DIR: await denoDir() },
  });
  for (const word of ["allow", "deny", "revoked", "signature_invalid"]) {
    assertStringIncludes(output, word);
  }
  assertStringIncludes(output, "line 2");
  const left = await Array.fromAsync(Deno.readDir(home));
  assertEquals(left, [], "the demo left files behind");
});

Deno.test({
  name: "the demo ends with three commands that work as printed",
  ignore: Deno.build.os === "windows",
  async fn() {
    const text = await Deno.readTextFile(new URL("tools/demo.ts", ROOT));
    const [, next] = /const NEXT = `([^`]+)`/.exec(text)!;
    const [install, web, help, ...more] = next!.split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    assertEquals(more, []);
    await using newcomer = await createNewcomer();
    const commands = `set -e\n${install}\n${help}\nexec ${web}`;
    await using child = await startServer("bash", ["-c", commands], {
      cwd: ROOT,
      clearEnv: true,
      env: newcomer.env,
    });
    // The third command runs until it is stopped.
    const { code, stdout: out, stderr } = await child.stop();
    assertEquals(code, 0, out + stderr);
    assertStringIncludes(out, "Installed sig");
    assertStringIncludes(out, "Usage: sig check");
    assertStringIncludes(out, "http://127.0.0.1:");
  },
});
