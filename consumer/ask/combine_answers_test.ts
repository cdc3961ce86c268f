import type { AskedRequirements } from "@sig/core";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { CheckAnswer } from "@sig/core";
import { createConsumer } from "../create_consumer.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { startConditionalServer } from "../../tests/kit/conditional_server.ts";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";
import { QUESTION, watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { combineAnswers } from "./combine_answers.ts";

// promise: With several issuers a deny needs the answers of all of them.

const [key] = await importTestKeys();

Deno.test("an unreachable issuer is listed, and another issuer may still allow", async () => {
  await using issuer = await watchIssuer(2, key);
  await using dead = startConditionalServer();
  const consumer = createConsumer({
    ...{ issuers: [dead.did, issuer.did], allowPrivate: true },
  });
  const issuers = [dead.did, issuer.did, "other.example"];
  const { decision, answers } = await consumer.checkAny(issuers, QUESTION);
  assertEquals(decision, "allow");
  assertEquals(
    answers.map((each) => [
      each.issuer,
      "error" in each ? each.error.code : each.decision,
    ]),
    [
      [dead.did, "fetch_status"],
      [issuer.did, "allow"],
      ["did:web:other.example", "issuer_not_allowed"],
    ],
  );
  // A deny needs the answers of all issuers.
  const question = { ...QUESTION, require: ["role=nobody"] } as const;
  const sure = await consumer.checkAny([issuer.did, issuer.did], question);
  assertEquals([sure.decision, sure.answers.length], ["deny", 2]);
  const error = await expectSigError(
    () => consumer.checkAny([issuer.did, dead.did], question),
    "fetch_status",
    `none of 2 issuers allows, and ${dead.did} could not answer`,
  );
  const [first, second] = error.context.answers as unknown as typeof answers;
  assert(first && "decision" in first);
  assertEquals([first.decision, second?.issuer], ["deny", dead.did]);
});

Deno.test("after an allow, a silent issuer is listed as fetch_timeout", async () => {
  const silence = Promise.withResolvers<CheckAnswer>();
  const allow = { issuer: "did:web:a.example", decision: "allow" };
  const { decision, answers } = await combineAnswers([
    { issuer: "did:web:s.example", answer: () => silence.promise },
    {
      issuer: "did:web:a.example",
      answer: () => Promise.resolve(allow as CheckAnswer),
    },
  ]);
  assertEquals(decision, "allow");
  const [late] = answers;
  assert(late && "error" in late);
  assertEquals(late.issuer, "did:web:s.example");
  assertEquals(late.error.code, "fetch_timeout");
  // The later rejection is handled.
  silence.reject(new Error("late"));
});

Deno.test("rejects an invalid question and an invalid number of issuers without a request", async () => {
  const consumer = createConsumer({ issuers: ["acme.example"] });
  await expectSigError(
    () =>
      consumer.checkAny(["acme.example"], {
        ...QUESTION,
        require: [] as unknown as AskedRequirements,
      }),
    "requirements_empty",
    "Cannot",
  );
  for (const n of [0, 101]) {
    await expectSigError(
      () => consumer.checkAny(Array(n).fill("acme.example"), QUESTION),
      "invalid_request",
      `Cannot answer: 1 to 100 issuers can be asked, not ${n}`,
    );
  }
});

Deno.test("rethrows an error that is not a SigError", async () => {
  await assertRejects(
    () =>
      combineAnswers([{
        issuer: "did:web:a.example",
        answer: () => Promise.reject(new TypeError("a fault")),
      }]),
    TypeError,
    "a fault",
  );
});
