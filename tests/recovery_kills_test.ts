/** `sig recover`, killed at every step. @module */

import { check } from "@sig/core";
import { openSource, verifyIssuer } from "@sig/consumer";
import { importSigningKey } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import {
  type Crash,
  crashesOf,
  withIssuer,
} from "../issuer/testdata/crashes.ts";
import { NOW, type Place, withPlace } from "../issuer/testdata/support.ts";
import { expectSigError } from "./kit/sig_errors.ts";
import { readTestKeys } from "./kit/vectors.ts";

// promise: `sig recover`, killed at any step, leaves a readable feed, and is
//   completed by the same command.

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
    const recoveryKey = await importSigningKey(first!);
    const next = second!.x;
    await issuer.createRecovery(recoveryKey.publicJwk.x);
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
    const stolen = new Map([["orgsign-1", 1]]);
    const recover = (faults = {}) =>
      withIssuer(
        place,
        (each) => each.recover({ recoveryKey, next, stolen }),
        faults,
      );
    /** Restores a crash, and returns the answer then. */
    const restore = async (crash: Crash, said: string) => {
      crash.restore();
      // An unfinished line, which the repetition cuts off, gives no answer.
      if ((await Deno.readFile(place.feed)).at(-1) !== 0x0a) {
        for (const isPlain of [false, true]) {
          const work = () => answers(place, isPlain);
          await expectSigError(work, "incomplete_line", "must end in LF");
        }
        return said;
      }
      const now = await answers(place);
      // Ours: the old state, then for good the new one.
      assert(now === said || now === "allow deny", `${crash.step}: ${now}`);
      // A reader of v0.1 reads every feed, too.
      await answers(place, true);
      return now;
    };
    const complete = async () => {
      const { kid } = await recover();
      assertEquals(kid, "orgsign-2");
      assertEquals(await answers(place), "allow deny");
      assertEquals(await answers(place, true), "allow deny");
    };
    let kills = 0;
    for (const crash of await crashesOf(place, recover)) {
      const said = await restore(crash, "deny allow");
      kills++;
      // The repetition is killed too, at one of its steps.
      const again = await crashesOf(place, recover);
      await restore(again[kills % again.length]!, said);
      await complete();
    }
    assert(kills > 20, `${kills}`);
    assertEquals((await recover()).events.map(({ repeated }) => repeated), []);
  });
});
