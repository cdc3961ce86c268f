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
import { createLoginGate } from "./relationship.ts";

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
