/** A signed feed, and the bare verification of its signatures. @module */

import { createPublicKey, verify } from "node:crypto";
import type { FlattenedJws, RelationshipUpsertEvent } from "@sig/core";
import {
  generateSigningKey,
  importSigningKey,
  signEvent,
  type SigningKey,
} from "@sig/jose";

/** The issuer of {@linkcode makeFeed}. */
export const ISSUER = "did:web:acme.example";

/** The upsert of that sequence: each is about another person. */
export function benchEvent(
  issuer: string,
  sequence: number,
): RelationshipUpsertEvent {
  const id = String(sequence).padStart(26, "0");
  return {
    spec_version: "sig/0.1",
    event_id: id,
    event_type: "relationship.upsert",
    issuer,
    issued_at: "2026-01-05T09:00:00Z",
    sequence,
    relationship_id: `relationship-${id}`,
    subject: `did:web:person-${sequence}.example`,
    visibility: "public",
    relationship_type: "employee",
    status: "active",
    roles: ["deploy", "review"],
    valid_from: "2026-01-01T00:00:00Z",
    valid_until: null,
    display: { title: "Site reliability engineer", department: "Platform" },
  };
}

/** A signature and what it is of. */
export interface Signed {
  readonly input: Uint8Array;
  readonly signature: Uint8Array;
}

/** A feed of so many events. */
export async function makeFeed(events: number) {
  const key = await importSigningKey(
    await generateSigningKey({ kid: "bench" }),
  );
  const envelopes: FlattenedJws[] = [];
  for (let i = 1; i <= events; i++) {
    envelopes.push(await signEvent(benchEvent(ISSUER, i), key));
  }
  const bytes = new TextEncoder().encode(
    envelopes.map((each) => `${JSON.stringify(each)}\n`).join(""),
  );
  const signed = envelopes.map((each): Signed => ({
    input: new TextEncoder().encode(`${each.protected}.${each.payload}`),
    signature: Uint8Array.fromBase64(each.signature, {
      alphabet: "base64url",
    }),
  }));
  return { jwk: key.publicJwk, bytes, signed };
}

/** Verifies signatures by `node:crypto` and does nothing else. */
export function bareVerification(
  jwk: SigningKey["publicJwk"],
  signed: readonly Signed[],
): () => void {
  const key = createPublicKey({ key: { ...jwk }, format: "jwk" });
  return () => {
    for (const { input, signature } of signed) {
      if (!verify(null, input, key, signature)) throw new Error("bad");
    }
  };
}
