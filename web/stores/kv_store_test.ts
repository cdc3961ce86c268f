import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../login/testdata/expect.ts";
import { openStore } from "./open_store.ts";
import { recordOf, testStoreContract } from "./testdata/store_contract.ts";

const AT = new Date("2026-01-31T09:00:00Z");

/** Deno offers KV only with a flag; without it this file runs itself with it. */
const HAS_KV = "openKv" in Deno;

Deno.test({
  name: "without --unstable-kv the error says how, with it the driver works",
  ignore: HAS_KV,
  async fn() {
    const error = await expectSigError(
      () => openStore("kv:challenges.db"),
      "store_unavailable",
      "Cannot use challenge store: this Deno offers no KV",
    );
    assertEquals(
      error.context.hint,
      "Start it with deno run --unstable-kv …, or choose another store.",
    );
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["test", "-A", "--no-check", "--unstable-kv"],
        new URL(import.meta.url).pathname,
      ],
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    const text = new TextDecoder();
    const output = `${text.decode(stdout)}${text.decode(stderr)}`;
    assertEquals(code, 0, output);
    // It must have been more than nothing.
    assert(/ok \| \d\d passed \| 0 failed/.test(output), output);
  },
});

function kvTest(name: string, fn: () => Promise<void>): void {
  if (HAS_KV) Deno.test(name, fn);
}

if (HAS_KV) {
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
}

kvTest("challenges outlive the process that made them", async () => {
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

kvTest("a file that can't be a database is unavailable", async () => {
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

kvTest("a database that was closed is unavailable", async () => {
  const store = await openStore("kv::memory:");
  await store.close();
  await expectSigError(
    () => store.consume(recordOf().challenge_id, AT),
    "store_unavailable",
    "Cannot use challenge store: Deno KV failed",
  );
});
