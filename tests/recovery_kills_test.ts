/** `sig recover`, killed at every step. @module */

import { check } from "@sig/core";
import { openSource, verifyIssuer } from "@sig/consumer";
import { importSigningKey } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import {
  NOW,
  type Place,
  runWorker,
  withPlace,
} from "../issuer/testdata/support.ts";
import { readTestKeys } from "./kit/vectors.ts";

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
    let said = "deny allow";
    let passes = 0;
    for (;; passes++) {
      const job = { work: "recover", count: 1, killAt: "any", passes } as const;
      const died = await runWorker(place, job);
      const now = await answers(place);
      // Ours: the old state, then for good the new one.
      assert(now === said || now === "allow deny", `${passes}: ${now}`);
      said = now;
      await answers(place, true);
      if (died.signal === null) {
        assertEquals(died.code, 0, died.output);
        break;
      }
      assertEquals(died.signal, "SIGKILL", died.output);
      assert(passes < 60, "there is no end");
    }
    assert(passes > 5, `${passes}`);
    assertEquals(said, "allow deny");
    assertEquals(await answers(place, true), "allow deny");
    const again = await runWorker(place, { work: "recover", count: 1 });
    assertEquals(again.lines, ["recovered orgsign-2 0"]);
  });
});
