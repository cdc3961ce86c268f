/** An issuer in memory with three events. @module */

import {
  createMemoryKeyStore,
  createMemoryStore,
  type EventDraft,
  initIssuer,
  type Issuer,
  type MemoryStore,
  openIssuer,
  type OpenIssuerOptions,
} from "@sig/issuer";
import { DID, NOW, revoke as revokeOf, upsert } from "./support.ts";

export const FEED = "/.well-known/sig/events.jsonl";

/** Opens an issuer in memory with two relationships, one revoked. */
export async function open(
  more: Partial<OpenIssuerOptions> & { readonly publicOnly?: boolean } = {},
): Promise<{ readonly issuer: Issuer; readonly store: MemoryStore }> {
  const { publicOnly = true, ...options } = more;
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: DID, publicOnly });
  const issuer = await openIssuer({ store, keys, now: () => NOW, ...options });
  await issuer.appendAll([
    upsert({ event_id: "first", relationship_id: "r1" }),
    upsert({ relationship_id: "r2", subject: "did:web:bob.example" }),
    revoke({ relationship_id: "r2" }),
  ]);
  return { issuer, store };
}

/** Makes a revoke draft of the first relationship. */
export const revoke = (more: Record<string, unknown> = {}): EventDraft =>
  revokeOf("r1", { reason_code: "employment_ended", ...more });

/** Casts a draft that TypeScript would refuse. */
export const wrong = (draft: unknown): EventDraft => draft as EventDraft;
