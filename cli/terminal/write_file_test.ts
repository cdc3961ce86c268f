import { isSigError } from "@sig/core";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { runWell, tempFolder } from "../../tests/kit/process.ts";
import { createDenoIo } from "./deno_io.ts";

const io = createDenoIo();
const ROOT = new URL("../..", import.meta.url).pathname;

Deno.test("createPrivateFile creates mode 0600 and never overwrites", async () => {
  await using folder = await tempFolder();
  const dir = folder.path;
  const path = `${dir}/f`;
  await io.createPrivateFile(path, "a\n");
  assertEquals(await Deno.readTextFile(path), "a\n");
  assertEquals(await io.fileMode(path), 0o600);
  await Deno.symlink(`${dir}/elsewhere`, `${dir}/link`);
  for (const taken of [path, `${dir}/link`]) {
    const error = await assertRejects(() => io.createPrivateFile(taken, "x"));
    assert(isSigError(error, "write_failed"), String(error));
    assert(error.message.includes("it exists already"), error.message);
  }
  assertEquals(io.exists(`${dir}/elsewhere`), false);
});

// A limit on the size of files simulates a full disk.
Deno.test({
  name: "a failed write leaves no partial data",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using folder = await tempFolder();
    const dir = folder.path;
    const old = "x".repeat(1000);
    await Deno.writeTextFile(`${dir}/names.csv`, old);
    await Deno.writeTextFile(
      `${dir}/script.ts`,
      `import { createDenoIo } from ${
        JSON.stringify(`${ROOT}cli/terminal/deno_io.ts`)
      };
        const io = createDenoIo();
        const tell = (error) => console.log(error.code);
        await io.createPrivateFile("new.jwk", "y".repeat(2000)).catch(tell);
        await io.replaceFile("names.csv", "y".repeat(2000)).catch(tell);`,
    );
    const stdout = await runWell("sh", [
      ...["-c", 'trap "" XFSZ; ulimit -f 2; exec "$@"', "sh"],
      ...[Deno.execPath(), "run", "--no-check", "-A"],
      ...["--config", `${ROOT}deno.json`, `${dir}/script.ts`],
    ], { cwd: dir });
    assertEquals(stdout, "write_failed\nwrite_failed\n");
    assertEquals(io.exists(`${dir}/new.jwk`), false);
    assertEquals(await Deno.readTextFile(`${dir}/names.csv`), old);
  },
});
