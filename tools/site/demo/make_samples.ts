/** The feeds of the demo: signed as it is made, by a key that nobody keeps. @module */

import {
  createMemoryKeyStore,
  createMemoryStore,
  type EventDraft,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import type { Samples } from "../../../web/ui/story/samples.ts";
import { companyDrafts } from "./people.ts";

const ISSUER = "did:web:acme.example";
const SUBJECT = "did:web:alice.people.example";
const STORY: readonly EventDraft[] = [
  {
    event_type: "relationship.upsert",
    relationship_id: "alice-1",
    subject: SUBJECT,
    relationship_type: "employee",
    roles: ["deploy"],
    display: { label: "Alice Moreau", title: "Release engineer" },
    issued_at: "2026-01-12T09:00:00Z",
  },
  {
    event_type: "relationship.revoke",
    relationship_id: "alice-1",
    reason_code: "employment_ended",
    issued_at: "2026-03-31T17:00:00Z",
  },
];

/** Signs them. */
export async function makeSamples(): Promise<Samples> {
  const left = await signed(STORY);
  return {
    issuer: ISSUER,
    subject: SUBJECT,
    before: "2026-03-30T12:00:00Z",
    hired: JSON.stringify(await signed(STORY.slice(0, 1))),
    left: JSON.stringify(left),
    forged: JSON.stringify({ ...left, events: forged(left.events) }),
    company: JSON.stringify(await signed(companyDrafts())),
  };
}

/** An issuer's documents, as the explorer takes them in one JSON. */
async function signed(drafts: readonly EventDraft[]) {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: ISSUER });
  const issuer = await openIssuer({ store, keys, now: () => new Date() });
  await issuer.appendAll(drafts);
  await issuer.close();
  const text = (path: string) =>
    new TextDecoder().decode(store.files.get(`/.well-known/${path}`));
  return {
    metadata: text("sig.json"),
    jwks: text("jwks.json"),
    did_document: text("did.json"),
    events: text("sig/events.jsonl"),
  };
}

/** The second line with one letter of its payload changed. */
function forged(events: string): string {
  const [first, second] = events.split("\n");
  const changed = second!.replace('"payload":"eyJz', '"payload":"eyJy');
  if (changed === second) throw new Error("Cannot forge: nothing was changed");
  return `${first}\n${changed}\n`;
}
