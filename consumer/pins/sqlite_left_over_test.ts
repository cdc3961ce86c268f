import { assert, assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { openSqlitePinStore } from "./sqlite_pin_store.ts";
import { countTurns } from "../../tests/kit/wait.ts";
import { TestProcess } from "../../tests/kit/process.ts";

const OURS = { issuer: "did:web:a.example", state: "ours" };
const THEIRS = { issuer: "did:web:b.example", state: "theirs" };
const ROWS = [["r1", "x"]] as const;

/** A process that stages rows, and lives until it is killed. */
async function startStaging(path: string): Promise<TestProcess> {
  const store = import.meta.resolve("./sqlite_pin_store.ts");
  const code = `
    import { openSqlitePinStore } from ${JSON.stringify(store)};
    const store = await openSqlitePinStore(${JSON.stringify(path)});
    await store.stage(${JSON.stringify(THEIRS)}, ${JSON.stringify(ROWS)});
    console.log("staged");
    // Until it is killed.
    await Deno.stdin.read(new Uint8Array(1));
  `;
  const child = new TestProcess(
    Deno.execPath(),
    ["eval", "--ext=ts", code],
    { stdin: "open" },
  );
  await child.said("staged");
  return child;
}

Deno.test("rows that a process stages stay while it lives, and go with the next that stages", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pins.db`;
  const store = await openSqlitePinStore(path);
  await using child = await startStaging(path);
  const stageOurs = async () => {
    await store.stage(OURS, ROWS);
    await store.unstage(OURS);
    return await store.staged(THEIRS, ["r1"]);
  };
  assertEquals(await stageOurs(), ["x"]);
  await child.stop("SIGKILL");
  assertEquals(await stageOurs(), [undefined]);
  await store.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("an entry's rows are not left over, nor are those that this process stages", async () => {
  const folder = await Deno.makeTempDir();
  const store = await openSqlitePinStore(`${folder}/pins.db`);
  await store.stage(THEIRS, ROWS);
  await store.put({ ...THEIRS, revision: 1, body: "{}" });
  await store.stage(OURS, ROWS);
  await store.stage({ ...OURS, state: "others" }, ROWS);
  assertEquals(await store.rows(THEIRS, ["r1"]), ["x"]);
  assertEquals(await store.staged(OURS, ["r1"]), ["x"]);
  // The lock takes no room.
  assertEquals((await Deno.stat(`${folder}/pins.db-staging`)).size, 0);
  await store.close();
  await Deno.remove(folder, { recursive: true });
});

/** How many locks this process has on a file, as Linux tells it. */
async function locksOn(path: string): Promise<number> {
  const { ino } = await Deno.stat(path);
  const locks = await Deno.readTextFile("/proc/locks");
  return locks.split("\n").filter((line) =>
    line.includes(` ${Deno.pid} `) && line.includes(`:${ino} `)
  ).length;
}

Deno.test({
  name: "whoever opens a file twice keeps the lock that tells others so",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    const path = `${folder}/pins.db`;
    const store = await openSqlitePinStore(path);
    await store.list();
    assertEquals(await locksOn(path), 1);
    const another = await openSqlitePinStore(path);
    assertEquals(await locksOn(path), 1);
    await another.close();
    assertEquals(await locksOn(path), 1);
    await store.close();
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("who could not say that rows are staged says so with the next ones, and keeps all", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pins.db`;
  const store = await openSqlitePinStore(path);
  const another = new DatabaseSync(`${path}-staging`);
  // As one does that has just found that nobody stages.
  another.exec("BEGIN EXCLUSIVE");
  await store.stage(OURS, ROWS);
  another.exec("ROLLBACK");
  await store.stage(OURS, [["r2", "y"]]);
  assertEquals(await store.staged(OURS, ["r1", "r2"]), ["x", "y"]);
  assertThrows(() => another.exec("BEGIN EXCLUSIVE"), Error, "locked");
  another.close();
  await store.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a process serves others while it deletes very many rows", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/pins.db`;
  const rows = Array.from(
    { length: 25_000 },
    (_, i) => [`r${i}`, "x"] as const,
  );
  const killed = await openSqlitePinStore(path);
  await killed.stage(THEIRS, rows);
  await killed.close();
  const store = await openSqlitePinStore(path);
  using turns = countTurns();
  await store.stage(OURS, rows);
  assertEquals(await store.staged(THEIRS, ["r1"]), [undefined]);
  assert(turns.count > 0);
  turns.count = 0;
  await store.unstage(OURS);
  assertEquals(await store.staged(OURS, ["r1"]), [undefined]);
  assert(turns.count > 0);
  await store.close();
  await Deno.remove(folder, { recursive: true });
});
