/** `sig recover`, killed at every step. @module */

import { check } from "@sig/core";
import { openSource, verifyIssuer } from "@sig/consumer";
import { importSigningKey } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import {
  NOW,
  type Place,
  runJob,
  runWorker,
  withPlace,
} from "../issuer/testdata/support.ts";
import { cp } from "node:fs/promises";
import { readTestKeys } from "./kit/vectors.ts";

// promise: `sig recover`, killed at any step, leaves a readable feed, and is
//   completed by the same command.

/** The repetition is killed at one of this many steps. */
const SECOND_KILLS = 7;

const ALICE = "did:web:alice.example";
const MALLORY = "did:web:mallory.example";

/** Returns the answers of a reader of the feed: with and without statements. */
async function answers({ dir }: Place, isPlain = false) {
  const source = openSource({ kind: "directory", path: dir });
  const { reader } = source;
  const plain: typeof reader = {
    ...reader,
    kind: reader.kind,
    async open(ref, options) {
      const opened = await reader.open(ref, options);
      if (options.name !== "metadata") return opened;
      const text = await new Response(
        ReadableStream.from(opened.bytes),
      ).text();
      const { recovery: _, ...metadata } = JSON.parse(text);
      const bytes = new TextEncoder().encode(JSON.stringify(metadata));
      return { ...opened, length: bytes.length, bytes: [bytes] };
    },
  } as typeof reader;
  const { state } = await verifyIssuer(
    isPlain ? { ...source, reader: plain } : source,
    { now: NOW },
  );
  return [ALICE, MALLORY].map((subject) =>
    check(state, { subject, require: ["role=deploy"], now: NOW }).decision
  ).join(" ");
}

Deno.test("recover, killed at every step, leaves a feed that every reader reads", async () => {
  await withPlace(async (place, issuer) => {
    const [, first, second] = readTestKeys();
    await Deno.writeTextFile(
      `${place.keysDir}/recovery-test-keys.json`,
      JSON.stringify([first, second]),
    );
    const recovery = await importSigningKey(first!);
    await issuer.createRecovery(recovery.publicJwk.x);
    const upsert = (subject: string, relationship_id: string) =>
      ({
        event_type: "relationship.upsert",
        relationship_type: "employee",
        ...{ subject, relationship_id, roles: ["deploy"] },
      }) as const;
    await issuer.append(upsert(ALICE, "r-alice"));
    await issuer.appendAll([upsert(MALLORY, "r-mallory"), {
      event_type: "relationship.revoke",
      relationship_id: "r-alice",
      reason_code: "other",
    }]);
    await issuer.close();
    assertEquals(await answers(place), "deny allow");
    const copy = async (from: string, to: string) => {
      await Deno.remove(to, { recursive: true }).catch(() => {});
      await cp(from, to, { recursive: true });
    };
    const fresh = `${place.base}/fresh`;
    await Deno.mkdir(fresh);
    await copy(place.dir, `${fresh}/issuer`);
    await copy(place.keysDir, `${fresh}/keys`);
    let said = "deny allow";
    const recover = async (passes?: number) => {
      const job = { work: "recover", count: 1 } as const;
      const died = passes === undefined
        ? await runJob(place, job)
        : await runWorker(place, { ...job, killAt: "any", passes });
      const now = await answers(place);
      // Ours: the old state, then for good the new one.
      assert(now === said || now === "allow deny", `${passes}: ${now}`);
      said = now;
      // A reader of v0.1 reads every feed, too.
      await answers(place, true);
      if (died.signal === null) assertEquals(died.code, 0, died.output);
      else assertEquals(died.signal, "SIGKILL", died.output);
      return died.signal !== null;
    };
    let kills = 0;
    for (let passes = 0;; passes++) {
      await copy(`${fresh}/issuer`, place.dir);
      await copy(`${fresh}/keys`, place.keysDir);
      said = "deny allow";
      const wasKilled = await recover(passes);
      if (!wasKilled) break;
      kills++;
      // Every third repetition is killed too, at another step.
      if (passes % 3 === 0 && await recover(passes % SECOND_KILLS)) kills++;
      await recover();
      assertEquals(said, "allow deny", `${passes}`);
      assertEquals(await answers(place, true), "allow deny", `${passes}`);
    }
    assert(kills > 20, `${kills}`);
    assertEquals(said, "allow deny");
    assertEquals(await answers(place, true), "allow deny");
    const again = await runJob(place, { work: "recover", count: 1 });
    assertEquals(again.lines, ["recovered orgsign-2 0"]);
  });
});
