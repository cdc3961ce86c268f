import { assert, assertEquals } from "@std/assert";
import { isSigError } from "@sig/core";
import { importVerificationKey } from "@sig/jose";
import { createSha256, parseVerifierKey } from "@sig/jose/proofs";
import {
  readJsonVectors,
  readVectors,
  vectorTest,
} from "../../tests/kit/others_vectors.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { revoke } from "../../tests/kit/events.ts";
import { makeProofs, PROOFS } from "../../tests/kit/proofs.ts";
import {
  ALICE,
  DID,
  importTestKeys,
  lineOf,
  makeLines,
} from "../../tests/kit/test_issuer.ts";
import { createMemoryReader } from "../testdata/memory_reader.ts";
import { type Evidence, makeEvidence, verifyEvidence } from "./evidence.ts";

const NOW = new Date("2026-12-01T00:00:00Z");
const encoder = new TextEncoder();

/** Creates a reader of a vector folder that acts like a server. */
function readerOf(folder: string) {
  const files = new Map<string, string>();
  const lookUp = {
    get: (path: string) => {
      try {
        return readVectors(`${folder}${path}`);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
  };
  return createMemoryReader(Object.assign(files, lookUp), "remote");
}

async function trustOf(vkey: string) {
  return [(await parseVerifierKey(createSha256(), vkey)).key];
}

interface Expected {
  readonly questions: readonly { readonly evidence: Evidence }[];
}

for (const name of ["small", "pages", "rotated-tail", "empty"]) {
  const folder = `proofs/${name}`;
  vectorTest(
    `makes and verifies the evidence of ${name}`,
    folder,
    async () => {
      const { vkey } = readJsonVectors<{ vkey: string }>(
        "proofs/TEST-KEY.json",
      );
      const trusted = await trustOf(vkey);
      const expected = readJsonVectors<Expected>(`${folder}/expected.json`);
      assert(expected.questions.length > 0);
      for (const { evidence } of expected.questions) {
        const location = {
          reader: readerOf(folder),
          metadataRef: "https://acme.example/.well-known/sig.json",
        };
        const made = await makeEvidence(location, evidence.question, {
          now: NOW,
        });
        assertEquals(made, evidence);
        const bytes = encoder.encode(JSON.stringify(made));
        const verified = await verifyEvidence(bytes, trusted);
        assertEquals(verified.evidence, evidence);
        assertEquals(verified.kid, "test-1");
      }
    },
  );
}

vectorTest(
  "rejects faulty evidence",
  "proofs/evidence-refused.json",
  async (t) => {
    const { trust, cases } = readJsonVectors<{
      trust: string;
      cases: { name: string; evidence: unknown }[];
    }>("proofs/evidence-refused.json");
    assert(cases.length > 10);
    const trusted = await trustOf(trust);
    for (const { name, evidence } of cases) {
      await t.step(name, async () => {
        const bytes = encoder.encode(JSON.stringify(evidence));
        await expectSigError(
          () => verifyEvidence(bytes, trusted),
          "invalid_evidence",
          "Cannot use evidence: ",
        );
      });
    }
  },
);

vectorTest(
  "a changed byte of evidence never changes its answer",
  "proofs/small",
  async () => {
    const { vkey } = readJsonVectors<{ vkey: string }>("proofs/TEST-KEY.json");
    const trusted = await trustOf(vkey);
    const { questions } = readJsonVectors<Expected>(
      "proofs/small/expected.json",
    );
    const original = encoder.encode(JSON.stringify(questions[0]!.evidence));
    let refused = 0;
    for (let at = 0; at < original.length; at++) {
      const bytes = original.slice();
      bytes[at]! ^= 1 << (at % 7);
      try {
        const { evidence } = await verifyEvidence(bytes, trusted);
        // Changes that the answer does not depend on may verify: a time, a
        // requirement with the same answer, a foreign signature.
        assertEquals(evidence.answer, questions[0]!.evidence.answer);
        assertEquals(evidence.lines, questions[0]!.evidence.lines);
        assertEquals(
          evidence.question.subject,
          questions[0]!.evidence.question.subject,
        );
      } catch (error) {
        if (!isSigError(error, "invalid_evidence")) throw error;
        refused++;
      }
    }
    assert(
      refused > original.length * 0.97,
      `${refused} of ${original.length}`,
    );
  },
);

Deno.test("rejects evidence of a subject with too many lines, which has no digest", async () => {
  const [key] = await importTestKeys();
  const metadata = { filler: "x".repeat(15_000) };
  const upserts = await makeLines(54, key, { metadata });
  const at = "2026-06-01T00:00:00Z";
  const revoked = {
    ...revoke(55, { relationship_id: "rel-54" }),
    ...{ issued_at: at, effective_at: at },
  };
  const files = await makeProofs({
    ...{ origin: "https://acme.example", keys: [key] },
    lines: [...upserts, await lineOf(revoked, key)],
  });
  const bytes = encoder.encode(JSON.stringify({
    type: "sig-evidence/v1",
    issuer: DID,
    question: { subject: ALICE, require: ["relationship_id=rel-54"], at },
    answer: { decision: "allow", reasons: [], as_of: 55 },
    checkpoint: new TextDecoder().decode(files.get(`${PROOFS}checkpoint`)),
    ...{ path: [], lines: upserts, keys: { [key.kid]: key.publicJwk.x } },
  }));
  await expectSigError(
    verifyEvidence(bytes, [await importVerificationKey(key.publicJwk)]),
    "invalid_evidence",
    "Cannot use evidence: its lines are over 1048576 bytes",
  );
});
