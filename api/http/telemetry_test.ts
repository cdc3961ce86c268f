import { assertEquals } from "@std/assert";
import { status } from "../../tests/kit/issuer_server.ts";
import { NOW, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  evaluationOf,
  post,
  QUESTION,
  serveIssuer,
} from "../testdata/asking.ts";
import { inlineFeedOf } from "../testdata/example_feed.ts";
import { findTelemetry, type Telemetry } from "./telemetry.ts";

/** Telemetry that records its values. */
function recorder() {
  const counted: string[] = [];
  const gauges = new Map<string, Parameters<Telemetry["gauge"]>[2]>();
  const telemetry: Telemetry = {
    count: (name, attributes = {}) =>
      void counted.push([name, ...Object.values(attributes)].join(" ")),
    gauge: (name, _unit, read) => void gauges.set(name, read),
    route() {},
  };
  return {
    telemetry,
    counted,
    /** Returns the current values of a gauge. */
    read: (name: string) => [...gauges.get(name)!()],
  };
}

Deno.test("without OpenTelemetry nothing is counted", () => {
  assertEquals(findTelemetry("0.1.0"), undefined);
});

Deno.test("each answer counts once, and unlisted issuers share a name", async () => {
  const { telemetry, counted, read } = recorder();
  await using issuer = await serveIssuer({ telemetry });
  const { app, server: { did }, lines } = issuer;
  const feed = inlineFeedOf(lines, did);
  const admin = { ...QUESTION, require: ["role=admin"] };
  const evaluation = evaluationOf(did);
  const group = { type: "group", id: QUESTION.subject };
  const other = { ...evaluation, subject: group };
  const rows: readonly (readonly [string, unknown, ...string[]])[] = [
    ["/v1/check", { issuer: did, ...QUESTION }, `allow none ${did}`],
    ["/v1/check", { issuer: did, ...admin }, `deny role_missing ${did}`],
    // It claims to be the listed issuer's.
    ["/v1/check", { feed, ...QUESTION }, "allow none other"],
    [
      "/v1/check/batch",
      {
        checks: [
          { issuer: did, ...QUESTION },
          { feed, ...QUESTION },
          { subject: "" },
        ],
      },
      `allow none ${did}`,
      "allow none other",
    ],
    ["/access/v1/evaluation", evaluation, `allow none ${did}`],
    // No feed can list such subjects, whatever it says about the text.
    ["/access/v1/evaluation", other, `deny no_relationship ${did}`],
    [
      "/access/v1/evaluations",
      { evaluations: [evaluation, other] },
      `allow none ${did}`,
      `deny no_relationship ${did}`,
    ],
  ];
  for (const [path, body, ...expected] of rows) {
    counted.length = 0;
    const { status, body: answer } = await post(app, path, body);
    assertEquals(status, 200, JSON.stringify(answer));
    assertEquals(
      counted.sort(),
      expected.map((each) => `sig.decisions ${each}`),
      path,
    );
  }
  assertEquals(read("sig.feed.age_seconds"), [[0, { issuer: did }]]);
});

Deno.test("a failed refresh counts once for all questions that wait for it", async () => {
  const { telemetry, counted, read } = recorder();
  let ms = NOW.getTime();
  const clock = { now: () => new Date(ms) };
  await using issuer = await serveIssuer({ telemetry, ...clock });
  const { app, server, publish } = issuer;
  const asked = { issuer: server.did, ...QUESTION };
  const ask = async (question = {}) =>
    (await post(app, "/v1/check", { ...asked, ...question })).status;
  server.documents.set(PATHS.metadata, status(503));
  assertEquals(await Promise.all([ask(), ask(), ask()]), [502, 502, 502]);
  assertEquals(counted, ["sig.refresh.failures"]);
  // While attempts are delayed, there is no other failure.
  assertEquals(await ask(), 502);
  assertEquals(counted.length, 1);
  ms += 2_000;
  await ask();
  assertEquals(counted.length, 2);
  publish(["{}"]);
  ms += 3_000;
  assertEquals(await ask(), 422);
  assertEquals(counted.length, 3);
  assertEquals(read("sig.feed.age_seconds"), []);
  // Invalid questions are not failures of the issuer.
  publish(3);
  assertEquals(await ask({ subject: "" }), 400);
  assertEquals(await ask({ issuer: "other.example" }), 403);
  assertEquals(await ask({ min_sequence: 99 }), 409);
  assertEquals(counted.length, 3);
});
