import { assertEquals } from "@std/assert";
import { crashesOf, withIssuer } from "./testdata/crashes.ts";
import { kids } from "./testdata/documents.ts";
import {
  assertKept,
  init,
  type Place,
  placeTest as test,
  readFeed,
  upsert,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";

// promise: A crash at any step leaves at worst an unfinished line; acknowledged
//   events are kept.

const DRAFTS = ["e1", "e2", "e3"].map((event_id) =>
  upsert({ event_id, relationship_id: event_id })
);

/** Appends an event, and returns the feed. */
async function continued(place: Place, event_id = "after") {
  const draft = upsert({ event_id });
  const { sequence } = await withIssuer(place, (each) => each.append(draft));
  const events = await readFeed(place);
  assertEquals([events.length, events.at(-1)?.event_id], [sequence, event_id]);
  return events;
}

for (const isBatch of [false, true]) {
  test(`a crash at any step of ${isBatch ? "a batch" : "appends"} leaves only complete events, and repeating them writes none twice`, async ({ place }) => {
    const append = (say?: (line: string) => void) => (faults = {}) =>
      withIssuer(place, async (issuer) => {
        for (const some of isBatch ? [DRAFTS] : DRAFTS.map((each) => [each])) {
          for (const { event_id, sequence } of await issuer.appendAll(some)) {
            say?.(`${event_id} ${sequence}`);
          }
        }
      }, faults);
    const crashes = await crashesOf(
      place,
      (faults, say) => append(say)(faults),
    );
    const steps = new Set(crashes.map(({ step }) => step));
    assertEquals([...steps], [
      ...["locked", "recovered", "wrote-part", "written", "synced", "indexed"],
    ]);
    for (const { lines, restore, step } of crashes) {
      restore();
      assertKept({ lines }, await continued(place));
      await append()();
      const all = await readFeed(place);
      assertEquals(all.length, 4, step);
      assertKept({ lines }, all);
    }
  });
}

test(
  "repeating an init after a crash at any step completes it, or is refused when it was complete",
  async ({ place }) => {
    const crashes = await crashesOf(place, (faults) => init(place, { faults }));
    const steps = crashes.map(({ step }) => step.replace("/.well-known/", ""));
    assertEquals(steps, [
      ...["locked", "key-stored"],
      ...["temp-written sig/events.jsonl", "created sig/events.jsonl"],
      ...["jwks.json", "did.json", "sig.json"].flatMap((
        name,
      ) => [`temp-written ${name}`, `renamed ${name}`]),
    ]);
    for (const [at, { restore }] of crashes.entries()) {
      restore();
      if (at < crashes.length - 1) await init(place);
      else await expectSigError(init(place), "issuer_exists", "sig.json");
      await continued(place);
    }
  },
  { empty: true },
);

test("a crash at any step of a rotation leaves an issuer that can sign, and whose rotation can be completed", async ({ place }) => {
  const rotate = (faults = {}) =>
    withIssuer(place, async (issuer) => {
      await issuer.rotateKey({ kid: "key-2" });
      await issuer.append(upsert());
    }, faults);
  const signers = new Set<string | undefined>();
  const crashes = await crashesOf(place, rotate);
  for (const { step, restore } of crashes) {
    restore();
    const path = `${place.keysDir}/acme.example/key-2.jwk`;
    const key = () => Deno.readTextFile(path).catch(() => undefined);
    const made = await key();
    await continued(place);
    const signer = (await kids(place)).at(-1);
    signers.add(signer);
    // Once it was published, there is nothing to complete.
    if (signer !== "key-2") await rotate();
    else await expectSigError(rotate(), "kid_exists", "published already");
    await continued(place, "again");
    assertEquals((await kids(place)).at(-1), "key-2");
    if (made !== undefined) assertEquals(await key(), made, step);
  }
  assertEquals([...signers], ["orgsign-1", "key-2"]);
});
