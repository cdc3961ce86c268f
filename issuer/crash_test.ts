import { assert, assertEquals } from "@std/assert";
import { kids } from "./testdata/documents.ts";
import {
  assertKept,
  placeTest as test,
  readFeed,
  runJob,
  runWorker,
  upsert,
} from "./testdata/support.ts";

// promise: A crash at any step leaves at worst an unfinished line; acknowledged
//   events are kept.

for (
  const [step, signal] of [
    ["locked", "SIGKILL"],
    ["recovered", "SIGKILL"],
    ["wrote-part", "SIGKILL"],
    ["written", "SIGKILL"],
    ["synced", "SIGKILL"],
    ["indexed", "SIGKILL"],
    ["wrote-part", "SIGTERM"],
    ["written", "SIGINT"],
  ] as const
) {
  test(`${signal} at "${step}" of an append loses no event and leaves a valid feed`, async ({ place }) => {
    const job = { work: "append", count: 4, name: "a" } as const;
    const died = await runWorker(place, {
      ...{ ...job, killAt: step, passes: 2, signal },
      ...(step === "wrote-part" ? { maxWriteBytes: 300 } : {}),
    });
    assertEquals(died.signal, signal, died.output);
    const issuer = await place.open();
    const { sequence } = await issuer.append(upsert({ event_id: "after" }));
    const events = await readFeed(place);
    assertEquals(events.at(-1)?.event_id, "after");
    assertEquals(events.length, sequence);
    assertKept(died, events);
    // Repeating the interrupted appends writes no event twice.
    const retried = await runJob(place, job);
    assertEquals(retried.code, 0, retried.output);
    const all = await readFeed(place);
    assertEquals(all.length, 5);
    assertKept(died, all);
    assertKept(retried, all);
  });
}

test("SIGKILL during a batch leaves only complete lines", async ({ place }) => {
  const job = { work: "batch", count: 5, name: "b" } as const;
  const died = await runWorker(place, {
    ...{ ...job, killAt: "wrote-part", passes: 2, maxWriteBytes: 700 },
  });
  assertEquals([died.signal, died.lines], ["SIGKILL", []], died.output);
  const issuer = await place.open();
  await issuer.append(upsert({ event_id: "after" }));
  const events = await readFeed(place);
  assert(events.length < 6);
  const retried = await runJob(place, job);
  assertEquals(retried.code, 0, retried.output);
  assertEquals((await readFeed(place)).length, 6);
});

for (
  const step of [
    "locked",
    "key-stored",
    "temp-written /.well-known/sig/events.jsonl",
    "created /.well-known/sig/events.jsonl",
    "temp-written /.well-known/jwks.json",
    "renamed /.well-known/jwks.json",
    "temp-written /.well-known/did.json",
    "renamed /.well-known/did.json",
    "temp-written /.well-known/sig.json",
    "renamed /.well-known/sig.json",
  ]
) {
  const isDone = step === "renamed /.well-known/sig.json";
  test(
    `repeating an init that was killed at "${step}" ${
      isDone ? "is refused, since it was complete" : "completes it"
    }`,
    async ({ place }) => {
      const died = await runWorker(place, { work: "init", killAt: step });
      assertEquals(died.signal, "SIGKILL", died.output);
      const { lines, output } = await runJob(place, { work: "init" });
      const [said] = lines[0]!.split(" Cannot");
      const expected = isDone ? "refused issuer_exists" : "initialized";
      assertEquals(said, expected, output);
      const issuer = await place.open();
      await issuer.append(upsert());
      assertEquals((await readFeed(place)).length, 1);
    },
    { empty: true },
  );
}

for (
  const [step, signer] of [
    ["key-stored", "orgsign-1"],
    ["temp-written /.well-known/jwks.json", "orgsign-1"],
    ["renamed /.well-known/jwks.json", "orgsign-1"],
    ["temp-written /.well-known/did.json", "orgsign-1"],
    ["renamed /.well-known/did.json", "key-2"],
    ["recovered", "key-2"],
  ] as const
) {
  test(`a rotation killed at "${step}" leaves an issuer that can sign, and can be completed`, async ({ place }) => {
    await (await place.open()).append(upsert());
    const job = { work: "rotate", name: "key-2" } as const;
    const died = await runWorker(place, { ...job, killAt: step });
    assertEquals(died.signal, "SIGKILL", died.output);
    const secret = await Deno.readTextFile(
      `${place.keysDir}/acme.example/key-2.jwk`,
    );
    const issuer = await place.open();
    await issuer.append(upsert());
    assertEquals((await kids(place)).at(-1), signer);
    await readFeed(place);
    const again = await runJob(place, job);
    const done = signer === "key-2";
    assertEquals(
      again.lines[0]?.slice(0, 18),
      done ? "refused kid_exists" : "rotated key-2",
      again.output,
    );
    await (await place.open()).append(upsert());
    assertEquals((await kids(place)).at(-1), "key-2");
    await readFeed(place);
    // The key made before the crash is the one in use.
    assertEquals(
      await Deno.readTextFile(`${place.keysDir}/acme.example/key-2.jwk`),
      secret,
    );
  });
}
