import { assertEquals } from "@std/assert";
import { importVerificationKey } from "../keys/verification_key.ts";
import { revoke, upsert } from "../../tests/kit/events.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { importTestKeys, lineOf } from "../../tests/kit/test_issuer.ts";
import {
  cosignNote,
  formatVerifierKey,
  parseVerifierKey,
  verifyNote,
} from "./note.ts";
import { sha256 } from "../bytes/sha256.ts";
import {
  EMPTY_HASH,
  pageFile,
  readStateFile,
  stateLeaf,
  subjectKey,
} from "./state_tree.ts";
const encoder = new TextEncoder();
const [signer] = await importTestKeys();
const key = await importVerificationKey(signer.publicJwk);

const { subject } = upsert(1);
const line = encoder.encode(await lineOf({ ...upsert(1) }, signer));
const orphan = encoder.encode(await lineOf({ ...revoke(1) }, signer));
const lines = Uint8Array.of(...line, 10);
const subjectHash = stateLeaf(subjectKey(subject), sha256(lines)).hash;

Deno.test("reads a state file of a subject in its place", () => {
  const file = { hash: subjectHash, bytes: lines };
  const node = readStateFile(file, subjectKey(subject), 64);
  assertEquals(node.kind === "lines" && node.subjects[0]?.subject, subject);
});

for (
  const [name, bytes, hash, why] of [
    [
      "a subject of another place",
      lines,
      subjectHash,
      "has a subject of another place",
    ],
    [
      "another hash than its name",
      lines,
      EMPTY_HASH,
      "is not what its name says",
    ],
    [
      "an empty row spelled as zeros",
      encoder.encode(`${"0".repeat(64)}\n${"-\n".repeat(15)}`),
      pageFile(Array(16).fill(EMPTY_HASH)).hash,
      "a page spells an empty row as zeros",
    ],
    [
      "too many lines",
      encoder.encode("{".repeat(1024 * 1024 + 1)),
      subjectHash,
      "a file of lines is over 1048576 bytes",
    ],
    [
      "a last line without LF",
      line,
      subjectHash,
      "a file of lines has no line feed at its end",
    ],
    [
      "a revocation without its upsert",
      Uint8Array.of(...orphan, 10),
      subjectHash,
      "a relationship does not begin with an upsert",
    ],
  ] as const
) {
  Deno.test(`rejects a state file with ${name}`, async () => {
    const other = subjectKey("did:web:bob.example");
    await expectSigError(
      () => readStateFile({ hash, bytes }, other, 1),
      "proof_invalid",
      why,
    );
  });
}

Deno.test("rejects a verifier key with the key ID of another name", async () => {
  const vkey = formatVerifierKey({
    name: "a.example",
    type: "note",
    key,
  });
  await expectSigError(
    parseVerifierKey(vkey.replace("a.example", "b.example")),
    "invalid_key",
    "Cannot read verifier key: its key ID is not that of its name and key",
  );
});

Deno.test("rejects a cosignature that is too short, or with a time beyond safe integers", async () => {
  const known = { name: "w.example", type: "cosignature", key } as const;
  const text = "text\n";
  const cosign = (time: number) => cosignNote(text, known.name, signer, time);
  const made = await cosign(7);
  const verify = (bytes: Uint8Array) =>
    verifyNote({ text, signatures: [{ ...made, bytes }] }, [known]);
  assertEquals(await verify(made.bytes), [{ key: known, time: 7 }]);
  for (const bytes of [made.bytes.slice(0, 4), (await cosign(2 ** 60)).bytes]) {
    await expectSigError(
      verify(bytes),
      "invalid_checkpoint",
      'the signature by "w.example" does not verify',
    );
  }
});
