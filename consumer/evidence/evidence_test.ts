import { assert, assertEquals } from "@std/assert";
import { isSigError } from "@sig/core";
import { importVerificationKey, type SigningKey } from "@sig/jose";
import {
  parseVerifierKey,
  sha256,
  stateLeaf,
  subjectKey,
} from "@sig/jose/proofs";
import { commitmentTo, readRecovery } from "@sig/jose/recovery";
import { encodeHex } from "@std/encoding/hex";
import {
  readJsonVectors,
  readVectors,
  vectorTest,
} from "../../tests/kit/others_vectors.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { revoke } from "../../tests/kit/events.ts";
import {
  makeProofs,
  PROOFS,
  type ProofsContent,
  publishProofs,
} from "../../tests/kit/proofs.ts";
import {
  ALICE,
  DID,
  feedOf,
  importTestKeys,
  lineOf,
  makeDocuments,
  makeLines,
  PATHS,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { createMemoryReader } from "../testdata/memory_reader.ts";
import { type Evidence, makeEvidence, verifyEvidence } from "./evidence.ts";

// promise: Evidence is verified offline, and refused if any byte differs.

const NOW = new Date("2026-12-01T00:00:00Z");
const ORIGIN = "https://acme.example";
const BOB = "did:web:bob.example";
const AT = "2026-06-01T00:00:00Z";
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
  return [(await parseVerifierKey(vkey)).key];
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
          metadataRef: ORIGIN + PATHS.metadata,
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

/** Lines that together exceed what the tree has a digest for. */
const manyLines = (key: SigningKey) =>
  makeLines(54, key, { metadata: { filler: "x".repeat(20_000) } });

/** Creates a location of an issuer that publishes proofs of these lines. */
async function locationOf(lines: readonly string[], key: SigningKey) {
  const files = new Map<string, string | Uint8Array>(
    makeDocuments({ keys: [key], lines }),
  );
  await publishProofs(files, { origin: ORIGIN, keys: [key], lines });
  const reader = createMemoryReader(files, "remote");
  return { reader, metadataRef: ORIGIN + PATHS.metadata };
}

Deno.test("evidence shows that a subject is absent where the tree ends at another one", async () => {
  const [key] = await importTestKeys();
  const trusted = [await importVerificationKey(key.publicJwk)];
  const about = (subject: string) => ({
    ...{ subject, require: ["role=deploy"], at: AT },
  });
  for (const lines of [await makeLines(2, key), await manyLines(key)]) {
    const location = await locationOf(lines, key);
    const options = { now: NOW };
    const made = await makeEvidence(location, about(BOB), options);
    const { answer: { decision }, other, path } = made;
    assertEquals({ decision, lines: made.lines, path }, {
      ...{ decision: "deny", lines: [], path: [] },
    });
    assertEquals(other?.key, encodeHex(subjectKey(ALICE)));
    const verify = (evidence: Evidence) =>
      verifyEvidence(encoder.encode(JSON.stringify(evidence)), trusted);
    assertEquals((await verify(made)).evidence, made);
    const own = encodeHex(subjectKey(BOB));
    for (
      const [change, why] of [
        [{ key: own }, "the other subject is not on this path"],
        [
          { lines_sha256: "11".repeat(32) },
          "the path does not lead to the checkpoint's state",
        ],
      ] as const
    ) {
      await expectSigError(
        verify({ ...made, other: { ...other!, ...change } }),
        "invalid_evidence",
        `Cannot use evidence: ${why}`,
      );
    }
  }
  await expectSigError(
    makeEvidence(await locationOf(await manyLines(key), key), about(ALICE), {
      now: NOW,
    }),
    "document_too_large",
    "Cannot make evidence: the subject has over 1048576 bytes of lines",
  );
});

/** Expects a refusal of lines as those of ALICE, in a tree without pages. */
async function expectLinesRefused(
  lines: readonly string[],
  content: Pick<ProofsContent, "claim" | "lines">,
  why: string,
) {
  const [key] = await importTestKeys();
  const files = await makeProofs({ origin: ORIGIN, keys: [key], ...content });
  const bytes = encoder.encode(JSON.stringify({
    type: "sig-evidence/v1",
    issuer: DID,
    question: { subject: ALICE, require: ["relationship_id=rel-54"], at: AT },
    answer: { decision: "allow", reasons: [], as_of: content.lines.length },
    checkpoint: new TextDecoder().decode(files.get(`${PROOFS}checkpoint`)),
    ...{ path: [], lines, keys: { [key.kid]: key.publicJwk.x } },
  }));
  await expectSigError(
    verifyEvidence(bytes, [await importVerificationKey(key.publicJwk)]),
    "invalid_evidence",
    `Cannot use evidence: ${why}`,
  );
}

Deno.test("rejects evidence of a subject with too many lines, which has no digest", async () => {
  const [key] = await importTestKeys();
  const upserts = await manyLines(key);
  const revoked = {
    ...revoke(55, { relationship_id: "rel-54" }),
    ...{ issued_at: AT, effective_at: AT },
  };
  const lines = [...upserts, await lineOf(revoked, key)];
  const why = "its lines are over 1048576 bytes";
  await expectLinesRefused(upserts, { lines }, why);
});

for (
  const [name, event, why] of [
    [
      "an upsert of another subject",
      upsert(1, { subject: BOB }),
      "an upsert names another subject",
    ],
    [
      "a revocation without its upsert",
      { ...revoke(1) },
      "a relationship does not begin with an upsert",
    ],
    [
      "a line after the checkpoint",
      upsert(2),
      "a line has sequence 2 of 1",
    ],
  ] as const
) {
  Deno.test(`rejects a state that an issuer signed with ${name}`, async () => {
    const [key] = await importTestKeys();
    const lines = [await lineOf(event, key)];
    const digest = sha256(feedOf(lines));
    const leaf = stateLeaf(subjectKey(ALICE), digest);
    const content = {
      ...{ lines: await makeLines(1, key), claim: { state: leaf.hash } },
    };
    await expectLinesRefused(lines, content, why);
  });
}

interface RecoveryEvidence {
  readonly trust: string;
  readonly metadata: unknown;
  readonly keys: readonly { readonly kid: string; readonly x: string }[];
  readonly cases: readonly {
    readonly name: string;
    readonly valid: boolean;
    readonly evidence: Evidence;
  }[];
}

vectorTest(
  "statements are applied to evidence as the vectors say",
  "recovery/evidence.json",
  async (t) => {
    const { trust, cases } = readJsonVectors<RecoveryEvidence>(
      "recovery/evidence.json",
    );
    const trusted = await trustOf(trust);
    for (const { name, valid, evidence } of cases) {
      await t.step(name, async () => {
        const bytes = encoder.encode(JSON.stringify(evidence));
        if (valid) {
          const verified = await verifyEvidence(bytes, trusted);
          assertEquals(verified.voids.filter(Boolean).length, 1);
          return;
        }
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
  "evidence is verified by the longer chain of file and documents",
  "recovery/evidence.json",
  async () => {
    const { trust, cases } = readJsonVectors<RecoveryEvidence>(
      "recovery/evidence.json",
    );
    const [key] = await trustOf(trust);
    const { evidence } = cases[0]!;
    const bytes = encoder.encode(JSON.stringify(evidence));
    const member = evidence.recovery!;
    const verify = async (member: unknown) =>
      await verifyEvidence(
        bytes,
        async () => ({
          keys: [key!],
          recovery: await readRecovery(member, evidence.issuer),
        }),
      );
    assertEquals((await verify(member)).kid, "orgsign-2");
    const older = { ...member, statements: [] };
    assertEquals((await verify(older)).kid, "orgsign-2");
    const other = { statements: [], commitment: commitmentTo("A".repeat(43)) };
    await expectSigError(
      () => verify(other),
      "invalid_evidence",
      "Cannot use evidence: its statements are not those of the issuer",
    );
  },
);
