import { assert, assertEquals } from "@std/assert";
import { SigError } from "@sig/core";
import { generateSigningKey, importSigningKey } from "@sig/jose";
import { checkIssuer } from "../ask/check_issuer.ts";
import { createConsumer } from "../create_consumer.ts";
import { locateIssuer } from "../read/source.ts";
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

Deno.test("a server that is too slow with a file of proofs is not asked for it twice", async () => {
  await using watched = await watchIssuer(3, key1);
  const { server, lines } = watched;
  const { documents, origin } = server;
  await publishProofs(documents, { origin, keys: [key1], lines });
  const policy = { allowPrivate: true };
  for (const slow of ["checkpoint", "state/"]) {
    const location = locateIssuer(server.did, policy);
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
          throw new SigError("fetch_timeout", "Cannot fetch: too slow");
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

Deno.test("of an issuer with more keys than are remembered the feed is read, with a warning", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server, lines } = watched;
  const { documents, origin } = server;
  const more = await Promise.all(
    Array.from(
      { length: 100 },
      async (_, i) =>
        await importSigningKey(await generateSigningKey({ kid: `more-${i}` })),
    ),
  );
  watched.publishKeys([key1, ...more]);
  const content = { origin, keys: [key1], published: [key1, ...more], lines };
  await publishProofs(documents, content);
  const answer = await consumer.check(server.did, QUESTION);
  assertEquals([answer.decision, answer.proof], ["allow", null]);
  assertEquals(answer.warnings, [{
    code: "proof_not_used",
    detail: "over 100 keys may sign events, and so many are not remembered",
  }]);
  watched.publishKeys([key1, ...more.slice(1)]);
  const fewer = await createConsumer({
    ...{ issuers: [server.did], allowPrivate: true },
  }).check(server.did, QUESTION);
  assertEquals([fewer.decision, fewer.proof?.size], ["allow", 3]);
});
