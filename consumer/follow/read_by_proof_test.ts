import { assert, assertEquals } from "@std/assert";
import { createConsumer } from "../create_consumer.ts";
import { ALICE, importTestKeys } from "../../tests/kit/test_issuer.ts";
import { publishProofs } from "../../tests/kit/proofs.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";

const [key1] = await importTestKeys();
assert(key1);

const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;

Deno.test("a first question is answered from checkpoint, path and tail", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server, lines } = watched;
  const { documents, origin } = server;
  await publishProofs(documents, { origin, keys: [key1], lines });
  watched.publish([...lines, await watched.line(4, key1)]);
  const answer = await consumer.check(server.did, QUESTION);
  assertEquals(answer.decision, "allow");
  assertEquals(answer.proof?.tail, 1);
  assertEquals(answer.last_sequence, 4);
  assertEquals(answer.warnings, []);
  const whole = await createConsumer({
    ...{ issuers: [server.did], allowPrivate: true, proofs: "never" },
  }).check(server.did, QUESTION);
  assertEquals(whole.proof, null);
  const { freshness: _f, evaluated_at: _e, proof: _p, ...rest } = answer;
  const { freshness: _g, evaluated_at: _h, proof: _q, ...all } = whole;
  assertEquals(rest, all);
});

Deno.test("a checkpoint of events without bytes is a faulty one", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server, lines } = watched;
  const { documents, origin } = server;
  const content = { origin, keys: [key1], lines, claim: { bytes: 0 } };
  await publishProofs(documents, content);
  const answer = await consumer.check(server.did, QUESTION);
  assertEquals([answer.decision, answer.proof], ["allow", null]);
  assertEquals(answer.warnings, [
    { code: "proof_not_used", detail: "invalid_checkpoint" },
  ]);
});
