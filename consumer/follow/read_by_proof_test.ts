import { assertEquals } from "@std/assert";
import { SigError } from "@sig/core";
import { generateSigningKey, importSigningKey } from "@sig/jose";
import { checkIssuer } from "../ask/check_issuer.ts";
import { createConsumer } from "../create_consumer.ts";
import { locateIssuer } from "../read/source.ts";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";
import { type ProofsContent, watchProven } from "../../tests/kit/proofs.ts";
import { QUESTION } from "../../tests/kit/watched_issuer.ts";

const [key1] = await importTestKeys();

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
