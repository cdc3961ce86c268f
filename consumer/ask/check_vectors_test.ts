import { assert, assertEquals } from "@std/assert";
import { unpackedFeed } from "../../tests/kit/unpack_vectors.ts";
import { readQuestionVectors } from "../../tests/kit/vectors.ts";
import { checkIssuer } from "./check_issuer.ts";
import { openSource } from "../read/source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

for (const vector of readQuestionVectors()) {
  Deno.test(`check ${vector.name}: ${vector.description}`, async () => {
    const { expected, feed, question } = vector;
    await using unpacked = await unpackedFeed(feed);
    const { path } = unpacked;
    const { as_of, at, now, ...rest } = question;
    const ask = () =>
      checkIssuer(openSource({ kind: "directory", path }), {
        ...rest,
        at: at ?? undefined,
        asOf: as_of ?? undefined,
      }, { now: new Date(now) });
    if (expected.error !== undefined) {
      await expectSigError(ask, expected.error, "Cannot ");
      return;
    }
    const answer = await ask();
    const {
      decision,
      last_sequence,
      matched_relationship_id,
      not_after,
      reasons,
    } = answer;
    assertEquals(
      { decision, matched_relationship_id, last_sequence, reasons, not_after },
      expected,
    );
    assertEquals(answer.evaluated_at, now);
    assert(answer.at === at, "the answer repeats the question");
  });
}
