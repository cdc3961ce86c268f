import { assertEquals, assertRejects } from "@std/assert";
import { openPinStore } from "@sig/consumer/pins";
import { SigError } from "@sig/core";
import { hidePlace } from "./hidden_place.ts";

const ENTRY = {
  issuer: "did:web:acme.example",
  ...{ revision: 1, state: "s", body: "{}" },
};

Deno.test("what fails at a hidden place is told to the operator, and its place to nobody else", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/pins.db`;
    const store = await openPinStore(path);
    let ms = 0;
    const told: string[] = [];
    const hidden = hidePlace(store, {
      tell: (message) => told.push(message),
      now: () => new Date(ms),
    });
    // As long as it works, it is the same store.
    assertEquals(await hidden.put(ENTRY, [["r=1", "1"]]), true);
    assertEquals(await hidden.rows(ENTRY, ["r=1", "s"]), ["1", undefined]);
    assertEquals(await Array.fromAsync(hidden.all(ENTRY, "r")), [["r=1", "1"]]);
    assertEquals(await hidden.list(), await store.list());
    await hidden.close();
    const work: readonly (() => Promise<unknown>)[] = [
      () => hidden.get(ENTRY.issuer),
      () => hidden.list(),
      () => hidden.rows(ENTRY, ["r"]),
      () => Array.fromAsync(hidden.all(ENTRY, "r")),
      () => hidden.stage(ENTRY, [["r", "2"]]),
      () => hidden.staged(ENTRY, ["r"]),
      () => hidden.unstage(ENTRY),
      () => hidden.put({ ...ENTRY, revision: 2 }),
      () => hidden.remove(ENTRY.issuer),
    ];
    for (const each of work) {
      const error = await assertRejects(
        each,
        SigError,
        "Cannot use the memory of this server: ",
      );
      assertEquals([error.code, error.context.place], [
        "store_unavailable",
        "of this server",
      ]);
      assertEquals(JSON.stringify(error).includes(folder), false);
    }
    assertEquals(told.length, 1);
    assertEquals(told[0]!.includes(path), true);
    ms = 10_000;
    await assertRejects(() => hidden.list(), SigError);
    assertEquals(told.length, 2);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
