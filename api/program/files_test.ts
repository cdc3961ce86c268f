import { assertEquals } from "@std/assert";
import { createPrivateFile, replaceFile } from "./files.ts";

/** Records the flushes and renames of some work, in their order. */
async function stepsOf(work: () => Promise<void>): Promise<readonly string[]> {
  const steps: string[] = [];
  const { rename } = Deno;
  const { sync, syncData } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.syncData = function () {
    steps.push("flush file");
    return syncData.call(this);
  };
  Deno.FsFile.prototype.sync = function () {
    steps.push(this.statSync().isDirectory ? "flush folder" : "flush file");
    return sync.call(this);
  };
  Deno.rename = (from, to) => {
    steps.push("rename");
    return rename(from, to);
  };
  try {
    await work();
  } finally {
    Object.assign(Deno.FsFile.prototype, { sync, syncData });
    Deno.rename = rename;
  }
  return steps;
}

Deno.test("a replaced file is flushed before its rename, and the folder after it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/clients.json`;
    await Deno.writeTextFile(path, "old");
    const steps = await stepsOf(() => replaceFile(path, "new"));
    assertEquals(steps, ["flush file", "rename", "flush folder"]);
    assertEquals(await Deno.readTextFile(path), "new");
    assertEquals([...Deno.readDirSync(folder)].length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a created file and its folder are flushed", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const steps = await stepsOf(() =>
      createPrivateFile(`${folder}/key.json`, "secret")
    );
    assertEquals(steps, ["flush file", "flush folder"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
