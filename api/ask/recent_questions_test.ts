import { assertEquals } from "@std/assert";
import {
  ALICE,
  importTestKeys,
  lineOf,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { post, serveIssuer } from "../testdata/asking.ts";
import { createApp } from "../app.ts";

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 5, 1);

/** Returns the time as it is spelled in answers. */
function spelled(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

/** Serves Alice's relationships, with a clock that a test sets. */
async function serveAlice(...events: readonly Record<string, unknown>[]) {
  const [key] = await importTestKeys();
  const clock = { ms: START_MS };
  const now = () => new Date(clock.ms);
  const maxAgeMs = 24 * HOUR_MS;
  const issuer = await serveIssuer({ events: 0, now, maxAgeMs });
  const { did } = issuer.server;
  const lines = await Promise.all(
    events.map((each, i) =>
      lineOf(upsert(i + 1, { issuer: did, ...each }), key!)
    ),
  );
  issuer.publish(lines);
  const fresh = () =>
    createApp({ issuers: [did], allowPrivate: true, now, maxAgeMs });
  const question = { issuer: did, subject: ALICE, require: ["role=deploy"] };
  return {
    ...{ ...issuer, clock, question },
    /** Asks three times, and a service that was never asked before. */
    async answers(ms: number, asked: object = question) {
      clock.ms = ms;
      const bodies = [];
      for (const app of [issuer.app, issuer.app, issuer.app, fresh()]) {
        const { body } = await post(app, "/v1/check", asked);
        const { freshness: _, continuity: __, ...same } = body;
        bodies.push(same);
      }
      return bodies;
    },
  };
}

Deno.test("a repeated question gets the answer of its time when a relationship begins or ends", async () => {
  const from = START_MS + HOUR_MS;
  const until = from + HOUR_MS + 0.000_5;
  await using issuer = await serveAlice({
    roles: ["deploy"],
    valid_from: spelled(from),
    valid_until: spelled(from + HOUR_MS).replace("Z", ".0000005Z"),
  });
  const rows = [
    [START_MS, "deny", "not_yet_valid"],
    [from - 1, "deny", "not_yet_valid"],
    [from, "allow", undefined],
    [Math.floor(until), "allow", undefined],
    [Math.ceil(until), "deny", "expired"],
    // The clock was set back.
    [from, "allow", undefined],
    [START_MS, "deny", "not_yet_valid"],
  ] as const;
  for (const [ms, decision, reason] of rows) {
    const [answer, ...others] = await issuer.answers(ms);
    assertEquals(answer.decision, decision, spelled(ms));
    assertEquals(answer.reasons[0]?.code, reason);
    assertEquals(answer.evaluated_at, spelled(ms));
    for (const other of others) assertEquals(other, answer);
  }
});

Deno.test("a repeated question about a past time has the clock and the age of its answer", async () => {
  await using issuer = await serveAlice({ roles: ["deploy"] });
  const { app, clock, question } = issuer;
  const asked = { ...question, at: "2026-02-01T00:00:00Z" };
  for (const seconds of [0, 1, 2, 61, 60]) {
    clock.ms = START_MS + seconds * 1000;
    const { body } = await post(app, "/v1/check", asked);
    assertEquals(
      [body.decision, body.evaluated_at, body.freshness.age_seconds],
      ["allow", spelled(clock.ms), seconds],
    );
  }
});

Deno.test("a repeated question gets the answer of the newest state", async () => {
  await using issuer = await serveAlice({ roles: ["deploy"] });
  const { question, publish, server } = issuer;
  const [key] = await importTestKeys();
  const lines: string[] = [];
  // The continuity is the same from the second state on.
  for (const role of ["deploy", "read", "deploy", "read"]) {
    const changes = {
      ...{ issuer: server.did, relationship_id: "rel-1" },
      roles: [role],
    };
    lines.push(await lineOf(upsert(lines.length + 1, changes), key!));
    publish(lines);
    const current = { ...question, max_age_seconds: 0 };
    await post(issuer.app, "/v1/check", current);
    for (const answer of await issuer.answers(START_MS)) {
      const decision = role === "deploy" ? "allow" : "deny";
      assertEquals(
        [answer.decision, answer.last_sequence],
        [decision, lines.length],
      );
    }
  }
});

Deno.test("an explanation is evaluated each time", async () => {
  await using issuer = await serveAlice({ roles: ["deploy"] });
  const explained = { ...issuer.question, explain: true };
  for (const ms of [START_MS, START_MS + 1]) {
    for (const answer of await issuer.answers(ms, explained)) {
      assertEquals(answer.explain.judged_at, spelled(ms));
    }
  }
});

Deno.test("a question never gets the answer to another one with the same hash", async () => {
  // The requests about these subjects have one 32-bit FNV-1a hash.
  const known = "did:web:p2129599.example";
  const unknown = "did:web:p2732382.example";
  await using issuer = await serveAlice({ subject: known, roles: ["deploy"] });
  const asked = [known, known, known, unknown, unknown, unknown, known];
  const decisions: string[] = [];
  for (const subject of asked) {
    const question = { subject, require: ["role=deploy"] };
    const { body } = await post(issuer.app, "/v1/check", question);
    assertEquals(body.subject, subject);
    decisions.push(body.decision);
  }
  assertEquals(
    decisions,
    asked.map((each) => each === known ? "allow" : "deny"),
  );
});
