/** Feeds with any content, signed by a new issuer. @module */

import {
  createMemoryKeyStore,
  createMemoryStore,
  type EventDraft,
  initIssuer,
  openIssuer,
} from "@sig/issuer";

/** Returns an issuer's four documents as one JSON text. */
export async function signedFeed(
  drafts: readonly EventDraft[],
): Promise<string> {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: "did:web:acme.example" });
  const issuer = await openIssuer({
    store,
    keys,
    now: () => new Date(),
    allowWarnings: true,
  });
  await issuer.appendAll(drafts);
  await issuer.close();
  const text = (path: string) =>
    new TextDecoder().decode(store.files.get(`/.well-known/${path}`));
  return JSON.stringify({
    metadata: JSON.parse(text("sig.json")),
    jwks: JSON.parse(text("jwks.json")),
    did_document: JSON.parse(text("did.json")),
    events: text("sig/events.jsonl"),
  });
}
