import { assert, assertEquals, assertRejects } from "@std/assert";
import type { CheckAnswer } from "@sig/core";
import { createConsumer } from "../create_consumer.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { startConditionalServer } from "../../tests/kit/conditional_server.ts";
import {
  ALICE,
  importTestKeys,
  makeDocuments,
  makeLines,
} from "../../tests/kit/test_issuer.ts";
import { combineAnswers } from "./combine_answers.ts";

const [key] = await importTestKeys();

/** Servers: one of an issuer that knows Alice, and empty ones. */
async function withIssuers(
  work: (issuers: {
    readonly living: string;
    readonly dead: string;
    readonly silent: string;
  }) => Promise<void>,
): Promise<void> {
  await using living = startConditionalServer();
  await using dead = startConditionalServer();
  const { did, origin, documents } = living;
  const lines = await makeLines(2, key!, { issuer: did });
  const all = makeDocuments({ did, origin, keys: [key!], lines });
  for (const [path, text] of all) documents.set(path, text);
  // Accepts connections, and says nothing.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    const silent = `did:web:127.0.0.1%3A${listener.addr.port}`;
    await work({ living: did, dead: dead.did, silent });
  } finally {
    listener.close();
  }
}

const QUESTION = { subject: ALICE, require: ["role=deploy"] };

Deno.test("a dead issuer does not stop another from allowing, and is listed", async () => {
  await withIssuers(async ({ living, dead }) => {
    const issuers = [dead, living, "other.example"];
    const consumer = createConsumer({
      issuers: [dead, living],
      allowPrivate: true,
    });
    const { decision, answers } = await consumer.checkAny(issuers, QUESTION);
    assertEquals(decision, "allow");
    assertEquals(
      answers.map((each) =>
        "error" in each
          ? [each.issuer, each.error.code]
          : [each.issuer, each.decision]
      ),
      [
        [dead, "fetch_status"],
        [living, "allow"],
        ["did:web:other.example", "issuer_not_allowed"],
      ],
    );
  });
});

Deno.test("a deny is said only when every issuer has answered", async () => {
  await withIssuers(async ({ living, dead }) => {
    const consumer = createConsumer({
      issuers: [dead, living],
      allowPrivate: true,
    });
    const question = { ...QUESTION, require: ["role=nobody"] };
    const sure = await consumer.checkAny([living, living], question);
    assertEquals([sure.decision, sure.answers.length], ["deny", 2]);
    const error = await expectSigError(
      () => consumer.checkAny([living, dead], question),
      "fetch_status",
      `none of 2 issuers allows, and ${dead} could not answer`,
    );
    // deno-lint-ignore no-explicit-any -- JSON that is looked into
    const answers = error.context.answers as any;
    assertEquals([answers[0].decision, answers[1].issuer], ["deny", dead]);
  });
});

Deno.test("an issuer that is silent holds nobody up once another allowed", async () => {
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
  assertEquals([late.issuer, late.error.code], [
    "did:web:s.example",
    "fetch_timeout",
  ]);
  // What comes of it later bothers nobody.
  silence.reject(new Error("late"));
});

Deno.test("a wrong question, and one to nobody, is refused before anybody is asked", async () => {
  const consumer = createConsumer({ issuers: ["acme.example"] });
  await expectSigError(
    () => consumer.checkAny(["acme.example"], { subject: ALICE, require: [] }),
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

Deno.test("a fault of the program is not hidden among the answers", async () => {
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
