/** Evidence as a file for the page. @module */

import { type Evidence, makeEvidence } from "@sig/consumer";
import { importVerificationKey } from "@sig/jose";
import { formatVerifierKey } from "@sig/jose/proofs";
import { createMemoryReader } from "../../../consumer/testdata/memory_reader.ts";
import { revoke } from "../../../tests/kit/events.ts";
import { makeProofs, PROOFS, withProofs } from "../../../tests/kit/proofs.ts";
import {
  ALICE,
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
  upsert,
} from "../../../tests/kit/test_issuer.ts";

const ORIGIN = "https://acme.example";
const [key] = await importTestKeys();

/** An issuer of 60 people: Alice was hired, and has left since. */
const EVENTS = [
  upsert(1, { roles: ["deploy", "review"] }),
  ...Array.from({ length: 60 }, (_, i) =>
    upsert(i + 2, {
      subject: `did:web:person-${i}.example`,
      display: { title: "Engineer", label: "x".repeat(600) },
    })),
  revoke(62, {
    relationship_id: "rel-1",
    issued_at: "2026-01-20T00:00:00Z",
    effective_at: "2026-01-20T00:00:00Z",
  }),
];

/** The evidence for a question to an issuer with 62 events. */
export async function testEvidence(
  question: Partial<Evidence["question"]> = {},
): Promise<Evidence> {
  const lines = await Promise.all(
    EVENTS.map((event) => lineOf({ ...event }, key)),
  );
  const documents = makeDocuments({ origin: ORIGIN, keys: [key], lines });
  const metadata = withProofs(
    documents.get(PATHS.metadata) as string,
    ORIGIN,
  );
  const proofs = await makeProofs({ origin: ORIGIN, keys: [key], lines });
  const files = new Map([...documents, ...proofs, [PATHS.metadata, metadata]]);
  return await makeEvidence(
    {
      reader: createMemoryReader(files, "remote"),
      metadataRef: ORIGIN + PATHS.metadata,
    },
    {
      ...{ subject: ALICE, require: ["relationship=employee", "role=deploy"] },
      at: "2026-02-01T00:00:00Z",
      ...question,
    },
    { now: new Date() },
  );
}

/** The issuer's key, as `sig evidence verify` prints it. */
export async function testVerifierKey(): Promise<string> {
  return formatVerifierKey({
    name: `${ORIGIN}${PROOFS}`.slice("https://".length, -1),
    type: "note",
    key: await importVerificationKey(key.publicJwk),
  });
}

/** Evidence as a file for the page. */
export async function evidenceFile(evidence: Evidence) {
  const { Buffer } = await import("node:buffer");
  return {
    name: "alice.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(evidence)),
  };
}
