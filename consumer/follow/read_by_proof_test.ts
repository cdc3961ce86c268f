import { assert, assertEquals } from "@std/assert";
import { SigError } from "@sig/core";
import { generateSigningKey, importSigningKey } from "@sig/jose";
import { checkIssuer } from "../ask/check_issuer.ts";
import { createConsumer } from "../create_consumer.ts";
import { UNKNOWN } from "../memory/pin.ts";
import { locateIssuer } from "../read/source.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";
import { type ProofsContent, watchProven } from "../../tests/kit/proofs.ts";
import { QUESTION } from "../../tests/kit/watched_issuer.ts";
import { readByProof } from "./read_by_proof.ts";

const [key1] = await importTestKeys();
const OPTIONS = { allowPrivate: true };

const setUp = (content?: Partial<ProofsContent>) =>
  watchProven(3, key1, content);

Deno.test("rejects a checkpoint with events but 0 bytes", async () => {
  await using issuer = await setUp({ claim: { bytes: 0 } });
  const { decision, proof, warnings } = await issuer.check();
  assertEquals([decision, proof], ["allow", null]);
  assertEquals(warnings, [
    { code: "proof_not_used", detail: "invalid_checkpoint" },
  ]);
});

Deno.test("a proof file that timed out is not requested twice", async () => {
  await using issuer = await setUp();
  for (const slow of ["checkpoint", "state/"]) {
    const location = locateIssuer(issuer.did, { allowPrivate: true });
    const { reader } = location;
    const asked: string[] = [];
    const answer = await checkIssuer({
      ...location,
      reader: {
        kind: reader.kind,
        async open(ref, options) {
          if (!ref.includes(`/sig/${slow}`)) {
            return await reader.open(ref, options);
          }
          asked.push(ref);
          throw new SigError("fetch_timeout", {
            action: "fetch",
            reason: "too slow",
          });
        },
      },
    }, QUESTION);
    assertEquals([answer.decision, answer.proof], ["allow", null]);
    assertEquals(asked.length, 1);
    assertEquals(answer.warnings.at(-1), {
      code: "proof_not_used",
      detail: "fetch_timeout",
    });
  }
});

Deno.test("if an issuer has too many keys to remember, its feed is read, with a warning", async () => {
  const more = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const key = await generateSigningKey({ kid: `more-${i}` });
      return await importSigningKey(key);
    }),
  );
  await using issuer = await setUp({ published: [key1, ...more] });
  issuer.publishKeys([key1, ...more]);
  const { decision, proof, warnings } = await issuer.check();
  assertEquals([decision, proof], ["allow", null]);
  assertEquals(warnings, [{
    code: "proof_not_used",
    detail: "over 100 keys may sign events, and so many are not remembered",
  }]);
  issuer.publishKeys([key1, ...more.slice(1)]);
  const fewer = await createConsumer({
    ...{ issuers: [issuer.did], allowPrivate: true },
  }).check(issuer.did, QUESTION);
  assertEquals([fewer.decision, fewer.proof?.size], ["allow", 3]);
});

Deno.test("a tail of 1 MiB is read with the proof, and a longer one with the whole feed", async () => {
  await using issuer = await setUp();
  const LIMIT = 1024 * 1024;
  const events = 20;
  const tail = await Promise.all(
    Array.from({ length: events }, (_, i) => issuer.line(4 + i, key1)),
  );
  const padded = (bytes: number) => {
    const each = Math.floor(bytes / events);
    return tail.map((line, i) =>
      line.padEnd((i > 0 ? each : bytes - each * (events - 1)) - 1)
    );
  };
  for (const [bytes, size] of [[LIMIT, 3], [LIMIT + 1, undefined]] as const) {
    issuer.publish([...issuer.lines, ...padded(bytes)]);
    const answer = await checkIssuer(issuer.did, QUESTION, OPTIONS);
    assertEquals([answer.last_sequence, answer.proof?.size], [23, size]);
  }
});

Deno.test("a proof answers about the last event of its checkpoint, the feed about the next", async () => {
  await using issuer = await setUp();
  for (const [asOf, size] of [[3, 3], [4, undefined]] as const) {
    if (asOf > 3) issuer.publish([...issuer.lines, await issuer.line(4, key1)]);
    const question = { ...QUESTION, at: "2026-05-01T00:00:00Z", asOf };
    const answer = await checkIssuer(issuer.did, question, OPTIONS);
    assertEquals([answer.as_of, answer.proof?.size], [asOf, size]);
  }
});

Deno.test("the fault of a first read by proof is kept if the second gets no answer", async () => {
  await using issuer = await setUp();
  const { documents } = issuer.server;
  const location = locateIssuer(issuer.did, { allowPrivate: true });
  const path = "/.well-known/sig/checkpoint";
  const faulty = () => {
    documents.set(path, status(503));
    return new Response("not a checkpoint");
  };
  documents.set(path, faulty);
  const found = await readByProof(
    location,
    { subject: QUESTION.subject, isPast: false },
    { pin: UNKNOWN, now: new Date() },
  );
  assert(found.kind === "unproven");
  assertEquals(found.fault?.code, "invalid_checkpoint");
  assertEquals(found.warning?.detail, "fetch_status");
});
