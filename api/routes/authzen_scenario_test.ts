// The certification scenario of AuthZEN Authorization API 1.0: Basic Core and
// Batch Core (openid/authzen, certification). The examples of the OpenAPI
// document cover Discovery. The levels that decide by `properties`, and Search,
// need more than a feed of relationships.
import { assert, assertEquals } from "@std/assert";
import { publishIssuer } from "../../tests/kit/issuer_server.ts";
import { importTestKeys, lineOf, upsert } from "../../tests/kit/test_issuer.ts";
import { type App, createApp } from "../app.ts";
import { type Asked, now, post } from "../testdata/asking.ts";

const ALICE = { type: "user", id: "alice" };
const BOB = { type: "user", id: "bob" };
const READ = { name: "read" };
const WRITE = { name: "write" };
const RECORD = { type: "record", id: "record-1" };
const OTHER = { type: "record", id: "record-2" };
const GOOD = { subject: ALICE, action: READ, resource: RECORD };

/** The fixture of §3 (rules 1 to 4): Alice reads and writes, Bob reads. */
async function withFixture(work: (app: App) => Promise<void>): Promise<void> {
  const [key] = await importTestKeys();
  await using issuer = await publishIssuer([key!], (did) =>
    Promise.all([
      upsert(1, { issuer: did, subject: "alice", roles: ["read", "write"] }),
      upsert(2, { issuer: did, subject: "bob", roles: ["read"] }),
    ].map((event) => lineOf(event, key!))));
  const { did } = issuer;
  await work(createApp({ issuers: [did], allowPrivate: true, now }));
}

const single = (app: App, body: unknown) =>
  post(app, "/access/v1/evaluation", body);
const batch = (app: App, body: unknown) =>
  post(app, "/access/v1/evaluations", body);

/** Returns the decisions of a batch; every item must have one. */
function decisionsOf({ status, headers, body }: Asked): readonly boolean[] {
  assertEquals([status, headers.get("content-type")], [
    200,
    "application/json",
  ]);
  assert(!("decision" in body));
  return body.evaluations.map((each: { decision: boolean }) => {
    assertEquals(typeof each.decision, "boolean");
    return each.decision;
  });
}

Deno.test("Basic Core: requests are accepted and decided", async () => {
  await withFixture(async (app) => {
    const rows: readonly (readonly [object, boolean])[] = [
      [GOOD, true],
      [{ ...GOOD, action: WRITE }, true],
      [{ ...GOOD, subject: BOB }, true],
      [{ ...GOOD, subject: BOB, action: WRITE }, false],
      [{
        ...GOOD,
        context: { time: "2025-06-27T18:03-07:00", ip: "192.168.1.1" },
      }, true],
      [{
        subject: { ...ALICE, properties: { role: "manager" } },
        action: { ...READ, properties: { method: "GET" } },
        resource: { ...RECORD, properties: { status: "active", owner: "bob" } },
      }, true],
      [{ ...GOOD, foo: "bar", futureField: { nested: true } }, true],
    ];
    for (const [body, decision] of [...rows, ...rows]) {
      const found = await single(app, body);
      assertEquals(found.status, 200, JSON.stringify(found.body));
      assertEquals(found.headers.get("content-type"), "application/json");
      assertEquals(found.body.decision, decision);
      assertEquals(typeof found.body.context, "object");
    }
  });
});

Deno.test("Basic Core: faults are 400", async () => {
  await withFixture(async (app) => {
    const { subject, action, resource } = GOOD;
    const bodies = [
      ...[{ action, resource }, { subject, resource }, { subject, action }],
      ...[{ ...GOOD, subject: { id: "alice" } }],
      ...[{ ...GOOD, subject: { type: "user" } }, { ...GOOD, action: {} }],
      ...[{ ...GOOD, resource: { id: "record-1" } }],
      ...[{ ...GOOD, resource: { type: "record" } }],
      ...[{ ...GOOD, subject: "alice" }, { ...GOOD, action: { name: 123 } }],
      ...["", "{", "not json"],
    ];
    for (const body of bodies) {
      for (const ask of [single, batch]) {
        assertEquals((await ask(app, body)).status, 400, JSON.stringify(body));
      }
    }
  });
});

Deno.test("Batch Core: defaults, order, context, and a single evaluation without a list", async () => {
  await withFixture(async (app) => {
    const two = [{ resource: RECORD }, { resource: OTHER }];
    const time = "2025-06-27T18:03-07:00";
    const rows: readonly (readonly [object, readonly boolean[]])[] = [
      [{ subject: ALICE, action: READ, evaluations: two }, [true, true]],
      [{
        subject: BOB,
        resource: RECORD,
        evaluations: [{ action: READ }, { action: WRITE }],
      }, [true, false]],
      [{ evaluations: [GOOD, { ...GOOD, subject: BOB, action: WRITE }] }, [
        true,
        false,
      ]],
      [{
        subject: ALICE,
        action: READ,
        context: { time },
        evaluations: [two[0], { ...two[1], context: { time, source: "x" } }],
      }, [true, true]],
    ];
    for (const [body, decisions] of rows) {
      assertEquals(decisionsOf(await batch(app, body)), decisions);
    }
    for (const evaluations of [undefined, []]) {
      const { status, body } = await batch(app, { ...GOOD, evaluations });
      assertEquals([status, body.decision], [200, true]);
    }
  });
});

Deno.test("Batch Core: the result of an evaluation without a required member is false", async () => {
  await withFixture(async (app) => {
    const found = await batch(app, {
      subject: ALICE,
      action: READ,
      options: { evaluations_semantic: "execute_all", another: 1 },
      evaluations: [{ resource: RECORD }, {}],
    });
    assertEquals(decisionsOf(found), [true, false]);
    assertEquals(found.body.evaluations[1].context.error, {
      status: 400,
      code: "invalid_request",
      message: "Cannot read request: /evaluations/1/resource: it is required",
    });
  });
});
