import { assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { openStore } from "./open_store.ts";
import { recordOf, testStoreContract } from "./store_contract.ts";

const AT = new Date("2026-01-31T09:00:00Z");

Deno.test("without --unstable-kv the error says how", async () => {
  const worker = new URL("testdata/no_kv_worker.ts", import.meta.url);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", worker.href, "kv:challenges.db"],
    stdin: "null",
    stderr: "null",
  }).output();
  assertEquals(
    new TextDecoder().decode(stdout),
    "store_unavailable: Cannot use challenge store: this Deno offers no KV " +
      "Start it with deno run --unstable-kv …, or " +
      "choose another store.\n",
  );
});

testStoreContract("kv", async () => {
  const folder = await Deno.makeTempDir();
  const store = await openStore(`kv:${folder}/challenges.db`);
  const other = await openStore(`kv:${folder}/challenges.db`);
  return {
    store,
    other,
    async close() {
      await store.close();
      await other.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
});

Deno.test("challenges outlive the process that made them", async () => {
  const folder = await Deno.makeTempDir();
  const record = recordOf();
  for (const expected of ["consumed", "used"]) {
    const store = await openStore(`kv:${folder}/challenges.db`);
    if (expected === "consumed") await store.create(record, AT);
    assertEquals(await store.consume(record.challenge_id, AT), expected);
    await store.close();
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a file that can't be a database is unavailable", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/text`, "no database at all\n".repeat(99));
  for (const path of [`${folder}/none/challenges.db`, `${folder}/text`]) {
    await expectSigError(
      () => openStore(`kv:${path}`),
      "store_unavailable",
      "Cannot use challenge store: the KV database can't be opened",
    );
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a database that was closed is unavailable", async () => {
  const store = await openStore("kv::memory:");
  await store.close();
  await expectSigError(
    () => store.consume(recordOf().challenge_id, AT),
    "store_unavailable",
    "Cannot use challenge store: Deno KV failed",
  );
});
