import { assertEquals } from "@std/assert";
import {
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  type Issuer,
  openIssuer,
} from "@sig/issuer";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import { documentOf } from "../openid/testdata/test_provider.ts";
import { createLoginGate, requireRelationship } from "./relationship.ts";
import { isSigError } from "@sig/core";

const DID = "did:web:acme.example";
const [LAPTOP, PHONE] = ["did:web:laptop.example", "did:web:phone.example"];

/** An issuer with proofs, and a fetch of its documents. */
async function makeIssuer() {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: DID });
  const issuer = await openIssuer({ store, keys, now: () => new Date() });
  await employ(issuer, LAPTOP);
  await issuer.checkpoint({ init: true });
  const asked: string[] = [];
  const fetch = (request: Request) => {
    asked.push(new URL(request.url).pathname);
    const document = (path: string) => store.files.get(path);
    return Promise.resolve(documentOf({ document }, request));
  };
  return { issuer, fetch, asked };
}

async function employ(issuer: Issuer, subject: string, same_person_as = "") {
  await issuer.append({
    event_type: "relationship.upsert",
    subject,
    relationship_type: "employee",
    ...(same_person_as && { metadata: { same_person_as } }),
  });
  await issuer.refreshProofs();
}

for (const kept of ["in this process", "in a file"]) {
  Deno.test(`reads the person from the whole feed, never from a proof, with a memory ${kept}`, async () => {
    await using file = kept === "in a file" ? await openPinFile() : undefined;
    const { issuer, fetch, asked } = await makeIssuer();
    const { ask } = createLoginGate({
      issuers: [{ did: DID, policy: { fetch } }],
      require: ["relationship=employee"],
      pins: file?.pins,
      now: () => new Date(),
    });
    const before = await ask!(LAPTOP);
    assertEquals(await before.personOf(), LAPTOP);
    // The state loaded before does not contain this person.
    await employ(issuer, PHONE, LAPTOP);
    const answer = await ask!(PHONE);
    assertEquals(answer.relationship?.type, "employee");
    assertEquals(await answer.personOf(), LAPTOP);
    assertEquals(asked.some((path) => path.endsWith(".jsonl")), true);
    await issuer.close();
  });
}

Deno.test("a refusal says whether this key or the person has ended", async () => {
  const { issuer, fetch } = await makeIssuer();
  await employ(issuer, PHONE, LAPTOP);
  const { ask } = createLoginGate({
    issuers: [{ did: DID, policy: { fetch } }],
    require: ["relationship=employee"],
    now: () => new Date(),
  });
  const endedOf = async (subject: string) => {
    const { answer } = await ask!(subject, { explains: true });
    try {
      requireRelationship(answer, subject);
      return "allowed";
    } catch (error) {
      if (!isSigError(error, "relationship_denied")) throw error;
      return [error.context.ended, error.context.hint];
    }
  };
  const end = async (subject: string) => {
    const { by_relationship_id } = await issuer.state();
    const found = Array.from(by_relationship_id.values())
      .find((each) => each.subject === subject);
    await issuer.append({
      event_type: "relationship.revoke",
      relationship_id: found!.relationship_id,
      subject,
      reason_code: "other",
    });
    await issuer.refreshProofs();
  };
  const ask_issuer =
    "Ask the issuer for the relationship that is required here.";
  assertEquals(await endedOf(LAPTOP), "allowed");
  await end(LAPTOP);
  assertEquals(await endedOf(LAPTOP), [
    "key",
    "This key has ended: use another key of yours.",
  ]);
  await end(PHONE);
  for (const subject of [LAPTOP, PHONE]) {
    assertEquals(await endedOf(subject), ["person", ask_issuer]);
  }
  // Nothing has ended for a key that the issuer does not know.
  assertEquals(await endedOf("did:web:stranger.example"), [
    undefined,
    ask_issuer,
  ]);
  await issuer.close();
});
