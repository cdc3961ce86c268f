import { assert, assertEquals } from "@std/assert";
import { toInlineFeed } from "../tests/kit/inline_vectors.ts";
import {
  type FeedVector,
  readFeedVector,
  readOneFeedOfEach,
  readQuestionVectors,
} from "../tests/kit/vectors.ts";
import { createApp } from "./app.ts";
import { post } from "./testdata/asking.ts";

/** Cases with a policy that a request can't choose. */
const asksForPolicy = ({ expected }: FeedVector) =>
  expected.options !== undefined;

for (const vector of readOneFeedOfEach()) {
  const feed = toInlineFeed(vector);
  if (feed === undefined || asksForPolicy(vector)) continue;
  const { expected } = vector;
  Deno.test(`/v1/verify ${vector.name}: ${expected.description}`, async () => {
    const app = createApp({ now: () => new Date(expected.now) });
    const body = JSON.stringify({ feed });
    const { status, body: report } = await post(app, "/v1/verify", body);
    assertEquals(status, 200, JSON.stringify(report));
    assertEquals(report.valid, expected.result === "valid");
    assertEquals(report.source, "inline");
    const dump = await post(app, "/v1/dump-state", body);
    if (expected.result === "valid") {
      assertEquals(report.issuer, expected.issuer);
      assertEquals(report.last_sequence, expected.last_sequence);
      assertEquals(dump.status, 200);
      assertEquals(dump.body.by_relationship_id, expected.by_relationship_id);
      return;
    }
    const [{ code, line, sequence, kid }] = report.errors;
    assertEquals(
      { code, line, sequence, kid: expected.kid && kid },
      {
        code: expected.code,
        line: expected.line,
        sequence: expected.sequence,
        kid: expected.kid,
      },
    );
    assertEquals(dump.body.code, code);
    assert(dump.status === 422 || code === "line_too_long");
    assert(!("by_relationship_id" in dump.body), "no state is given");
  });
}

Deno.test("few vectors can't be sent inline", () => {
  const vectors = readOneFeedOfEach();
  const asked = vectors.filter((each) =>
    toInlineFeed(each) !== undefined && !asksForPolicy(each)
  );
  assert(asked.length > vectors.length * 0.85, `${asked.length}`);
});

for (const vector of readQuestionVectors()) {
  const { description, expected, feed, name, question } = vector;
  Deno.test(`/v1/check ${name}: ${description}`, async () => {
    const { now, at, as_of, ...rest } = question;
    const app = createApp({ now: () => new Date(now) });
    const { status, body } = await post(app, "/v1/check", {
      feed: toInlineFeed(readFeedVector(feed)),
      ...rest,
      ...(at === null ? {} : { at }),
      ...(as_of === null ? {} : { as_of }),
    });
    if (expected.error !== undefined) {
      assertEquals(body.code, expected.error);
      assert(status >= 400 && !("decision" in body));
      return;
    }
    assertEquals(status, 200, JSON.stringify(body));
    for (const [member, value] of Object.entries(expected)) {
      assertEquals(body[member], value, member);
    }
    assertEquals(body.evaluated_at, now);
    assertEquals([body.freshness, body.continuity], [null, "unpinned"]);
  });
}
