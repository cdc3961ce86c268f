/**
 * Feeds and issuers for benches, and the bare verification of signatures.
 *
 * @module
 */

import { createPublicKey, verify } from "node:crypto";
import type { FlattenedJws, RelationshipUpsertEvent } from "@sig/core";
import {
  createFileKeyStore,
  createFileStore,
  type FileStoreOptions,
  initIssuer,
  openIssuer,
  type UpsertDraft,
} from "@sig/issuer";
import {
  generateSigningKey,
  importSigningKey,
  signEvent,
  type SigningKey,
} from "@sig/jose";

/** The issuer of {@linkcode makeFeed}. */
export const ISSUER = "did:web:acme.example";

/** Returns the upsert with this sequence, each with a different subject. */
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

/** A signature and the signed bytes. */
export interface Signed {
  readonly input: Uint8Array;
  readonly signature: Uint8Array;
}

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

/** Verifies signatures with `node:crypto` and does nothing else. */
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

/** Creates drafts of upserts, each with a different subject. */
export function drafts(count: number, from = 0): UpsertDraft[] {
  return Array.from({ length: count }, (_, i) => ({
    event_type: "relationship.upsert",
    subject: `did:web:person-${from + i}.example`,
    relationship_type: "employee",
    roles: ["deploy", "review"],
    display: { title: "Site reliability engineer", department: "Platform" },
  }));
}

/**
 * Creates an issuer with a number of events in a temporary folder, which is
 * removed when its scope ends.
 */
export async function openFileIssuer(
  events: number,
  { did = ISSUER, ...options }: FileStoreOptions & { did?: string } = {},
) {
  const dir = await Deno.makeTempDir({ prefix: "sig-bench-" });
  const store = createFileStore(`${dir}/issuer`, options);
  const keys = createFileKeyStore(`${dir}/keys`);
  await initIssuer({ store, keys, did, allowPrivate: true });
  const issuer = await openIssuer({ store, keys, now: () => new Date() });
  for (let i = 0; i < events; i += 1_000) {
    await issuer.appendAll(drafts(Math.min(1_000, events - i), i));
  }
  return {
    ...{ dir, issuer },
    async [Symbol.asyncDispose]() {
      await issuer.close();
      await Deno.remove(dir, { recursive: true });
    },
  };
}
