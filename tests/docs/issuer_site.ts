/** The issuer acme.example of the documents. @module */

import {
  createFileStore,
  createMemoryKeyStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { createIssuerSite } from "../../cli/site/issuer_site.ts";
import { type LoopbackServer, serveLoopback } from "../kit/loopback.ts";

/**
 * Serves an issuer on loopback: alice is an employee with the role deploy, bob
 * was a contractor until February.
 */
export async function serveIssuer(dir: string): Promise<LoopbackServer> {
  await Deno.mkdir(dir, { recursive: true });
  const server = serveLoopback(createIssuerSite(dir));
  const store = createFileStore(dir);
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: server.did, allowPrivate: true });
  await using issuer = await openIssuer({ store, keys, now: () => new Date() });
  await issuer.appendAll([
    {
      event_type: "relationship.upsert",
      event_id: "event-1",
      relationship_id: "alice-1",
      subject: "did:web:alice.example",
      relationship_type: "employee",
      roles: ["deploy", "review"],
      issued_at: "2026-01-05T09:00:00Z",
    },
    {
      event_type: "relationship.upsert",
      event_id: "event-2",
      relationship_id: "bob-1",
      subject: "did:web:bob.example",
      relationship_type: "contractor",
      roles: ["deploy"],
      issued_at: "2026-01-12T09:00:00Z",
    },
    {
      event_type: "relationship.revoke",
      event_id: "event-3",
      relationship_id: "bob-1",
      reason_code: "contract_ended",
      issued_at: "2026-02-05T09:00:00Z",
      effective_at: "2026-02-01T00:00:00Z",
    },
  ]);
  return server;
}
