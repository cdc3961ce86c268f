import type { CheckResult, ErrorCode } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { checkIssuer } from "./check_issuer.ts";
import { openSource } from "./open_source.ts";
import { expectSigError } from "./testdata/expect_sig_error.ts";
import { readFeedVector } from "./testdata/feed_vectors.ts";

/** A file of `vectors/check`. */
interface CheckVector {
  readonly description: string;
  readonly feed: string;
  readonly question: {
    readonly subject: string;
    readonly require: readonly string[];
    readonly at: string | null;
    readonly as_of: number | string | null;
    readonly now: string;
  };
  readonly expected: { readonly error: ErrorCode } | Expected;
}

type Expected =
  & { readonly error?: undefined }
  & Pick<
    CheckResult,
    | "decision"
    | "last_sequence"
    | "matched_relationship_id"
    | "not_after"
    | "reasons"
  >;

const FOLDER = new URL("../vectors/check/", import.meta.url);

for (const { name } of [...Deno.readDirSync(FOLDER)].sort(byName)) {
  const text = Deno.readTextFileSync(new URL(name, FOLDER));
  const vector: CheckVector = JSON.parse(text);
  Deno.test(`check ${name}: ${vector.description}`, async () => {
    const { expected, feed, question } = vector;
    const { path } = readFeedVector(feed);
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

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}
