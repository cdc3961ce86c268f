import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  ALICE,
  importTestKeys,
  makeLines,
} from "../../tests/kit/test_issuer.ts";
import { createApp } from "../app.ts";
import {
  ask,
  CLUSTER,
  evaluationOf,
  get,
  now,
  post,
  serveIssuer,
} from "../testdata/asking.ts";

// promise: AuthZEN's `context` changes no decision; an item without an answer
//   is no deny.

const PATH = "/access/v1/evaluation";

/** Sends the usual evaluation with changes to an app of an issuer. */
function asking({ app, server }: Awaited<ReturnType<typeof serveIssuer>>) {
  return (changes: object = {}) =>
    post(app, PATH, { ...evaluationOf(server.did), ...changes });
}

Deno.test("the metadata contains the endpoints with the host of the request", async () => {
  const app = createApp({ hosts: ["sig.acme.example"] });
  const path = "/.well-known/authzen-configuration";
  const { body } = await ask(app, `https://sig.acme.example${path}`);
  assertEquals(body, {
    policy_decision_point: "https://sig.acme.example",
    access_evaluation_endpoint: "https://sig.acme.example/access/v1/evaluation",
    access_evaluations_endpoint:
      "https://sig.acme.example/access/v1/evaluations",
  });
  const foreign = await ask(app, `https://eve.example${path}`);
  assertEquals(foreign.status, 421);
  assert(!foreign.text.includes("eve.example"));
  const closed = createApp({ token: "secret" });
  assertEquals((await get(closed, path)).status, 200);
});

Deno.test("subject, action and resource are mapped", async () => {
  await using issuer = await serveIssuer();
  const { did, origin } = issuer.server;
  const ask = asking(issuer);
  const { body: permit } = await ask();
  assertEquals(permit.decision, true);
  assertEquals([permit.context.reasons, permit.context.issuer], [[], did]);
  const { body: deny } = await ask({ action: { name: "admin" } });
  assertEquals(deny.decision, false);
  assertEquals(deny.context.reasons[0].code, "role_missing");
  const host = origin.slice("http://".length);
  for (const resource of [CLUSTER, { type: "issuer", id: host }]) {
    const { body } = await ask({ resource });
    assertEquals(body.decision, true);
    // A resource that only the caller knows has no part in the decision.
    const isIgnored = resource === CLUSTER;
    assertEquals(body.context.ignored, isIgnored ? ["resource"] : undefined);
  }
  // An issuer that is listed by DID and by host counts once.
  const twice = createApp({ issuers: [did, host], allowPrivate: true, now });
  const { body } = await post(twice, PATH, {
    ...evaluationOf(did),
    resource: CLUSTER,
  });
  assertEquals(body.decision, true);
});

Deno.test("an answer has the first 100 reasons and the number of the rest", async () => {
  const [key] = await importTestKeys();
  await using issuer = await serveIssuer({ events: 0 });
  const { app, server, publish } = issuer;
  const changes = {
    issuer: server.did,
    valid_until: "2026-05-01T00:00:00Z",
  };
  const lines = await makeLines(103, key!, changes);
  const evaluation = evaluationOf(server.did);
  for (const [events, leftOut] of [[100, undefined], [103, 3]] as const) {
    publish(lines.slice(0, events));
    const { body: checked } = await post(app, "/v1/check", {
      issuer: server.did,
      subject: ALICE,
      require: ["role=deploy"],
      max_age_seconds: 0,
    });
    const { body: one } = await post(app, PATH, evaluation);
    const { body: several } = await post(app, "/access/v1/evaluations", {
      ...evaluation,
      evaluations: [{}],
    });
    assertEquals(several.evaluations.length, 1);
    for (const each of [checked, one.context, several.evaluations[0].context]) {
      assertEquals(each.reasons.length, 100);
      assertEquals(each.reasons[99], {
        code: "expired",
        relationship_id: "rel-100",
        sequence: 100,
      });
      assertEquals(each.reasons_left_out, leftOut);
    }
    assertEquals([checked.decision, one.decision], ["deny", false]);
  }
});

Deno.test("unknown members and all of context except sig have no effect", async () => {
  await using issuer = await serveIssuer();
  const { subject, action, resource } = evaluationOf(issuer.server.did);
  const changes = [
    { subject: { ...subject, properties: { department: "x" } } },
    { action: { ...action, properties: { method: "GET" } } },
    { resource: { ...resource, properties: {} }, extra: 1 },
    { context: { time: "2025-06-27T18:03-07:00", ip: "192.168.1.1" } },
    { context: { time: "2020-01-01T00:00:00Z", place: { a: 1 } } },
    { context: { time: 7, at: "2020-01-01T00:00:00Z", as_of: 0 } },
    { context: { min_sequence: 99 } },
    { context: { Sig: { at: "2020-01-01T00:00:00Z" }, "sig ": 1 } },
    { context: {} },
  ];
  for (const change of changes) {
    const { status, body } = await asking(issuer)(change);
    assertEquals([status, body.decision], [200, true], JSON.stringify(change));
  }
});

Deno.test("an invalid member is 400, and in a batch an error of its item", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  const good = evaluationOf(server.did);
  const rows: readonly (readonly [object, string])[] = [
    [{ subject: undefined }, "/subject"],
    [{ action: undefined }, "/action"],
    [{ resource: undefined }, "/resource"],
    [{ subject: { id: "a" } }, "/subject/type"],
    [{ subject: { type: "user" } }, "/subject/id"],
    [{ subject: { type: "user", id: "" } }, "/subject/id"],
    [{ action: { name: 7 } }, "/action/name"],
    [{ action: "deploy" }, "/action"],
    [{ resource: { type: "issuer" } }, "/resource/id"],
    [{ context: null }, "/context"],
    [{ context: [] }, "/context"],
    [{ context: { sig: 7 } }, "/context/sig"],
    [{ context: { sig: { at: "1985-10-26T01:22-07:00" } } }, "/context/sig/at"],
    [{ context: { sig: { min_sequence: -1 } } }, "/context/sig/min_sequence"],
    [{ context: { sig: { explain: 1 } } }, "/context/sig/explain"],
    [{ context: { sig: { as_of: 0 } } }, "/context/sig/as_of"],
  ];
  for (const [changes, pointer] of rows) {
    const body = { ...good, ...changes };
    const { status, body: problem } = await post(app, PATH, body);
    assertEquals([status, problem.code], [400, "invalid_request"]);
    assertEquals(problem.errors[0].pointer, pointer);
    // It does not affect the others, and has the status of a single evaluation.
    const batch = await post(app, "/access/v1/evaluations", {
      evaluations: [good, body],
    });
    assertEquals(batch.status, 200);
    const [first, second] = batch.body.evaluations;
    assertEquals([first.decision, second.decision], [true, false]);
    const { message, ...error } = second.context.error;
    assertEquals(error, { status: 400, code: "invalid_request" });
    assertStringIncludes(message, `/evaluations/1${pointer}: it `);
  }
});

Deno.test("a resource must be an issuer that may be queried", async () => {
  const two = ["acme.example", "other.example"];
  const rows: readonly (readonly [
    readonly string[],
    object,
    number,
    string,
    string | undefined,
  ])[] = [
    [[], CLUSTER, 400, "invalid_request", "/resource/type"],
    [two, CLUSTER, 400, "invalid_request", "/resource/type"],
    [
      two,
      { type: "issuer", id: "./acme" },
      400,
      "invalid_identifier",
      "/resource/id",
    ],
    [
      two,
      { type: "issuer", id: "third.example" },
      403,
      "issuer_not_allowed",
      undefined,
    ],
  ];
  for (const [issuers, resource, status, code, pointer] of rows) {
    const app = createApp({ issuers, anyIssuer: resource === CLUSTER });
    const found = await post(app, PATH, { ...evaluationOf(""), resource });
    const { body } = found;
    assertEquals([found.status, body.code, body.pointer], [
      status,
      code,
      pointer,
    ]);
  }
});

Deno.test("context.sig accepts the members of /v1/check and no others", async () => {
  await using issuer = await serveIssuer();
  const ask = (sig: object) => asking(issuer)({ context: { sig } });
  const early = await ask({ at: "2025-01-01T00:00:00Z" });
  assertEquals(early.body.decision, false);
  assertEquals(early.body.context.reasons[0].code, "not_yet_valid");
  const first = await ask({ as_of: 1, explain: true, max_age_seconds: 0 });
  assertEquals(first.body.context.last_sequence, 1);
  assertEquals(first.body.context.explain.relationships.length, 1);
  assertEquals((await ask({})).body.context.explain, undefined);
  const later = await ask({ min_sequence: 9 });
  assertEquals([later.status, later.body.code], [
    409,
    "consistency_unavailable",
  ]);
  const misspelt = await ask({ min_seqence: 9 });
  assertEquals([misspelt.status, misspelt.body.errors], [400, [{
    pointer: "/context/sig/min_seqence",
    code: "invalid_field",
    detail: 'there is no member "min_seqence"; did you mean "min_sequence"?',
  }]]);
});

Deno.test("a subject of another type is denied, whatever its id", async () => {
  await using issuer = await serveIssuer();
  const ask = async (subject: object, context?: object) => {
    const { status, body } = await asking(issuer)({ subject, context });
    assertEquals(status, 200);
    return body;
  };
  for (const type of ["user", "agent", "did"]) {
    assertEquals((await ask({ type, id: ALICE })).decision, true);
  }
  const sig = { explain: true };
  const group = await ask({ type: "group", id: ALICE }, { sig });
  assertEquals(group.decision, false);
  const { reasons, matched_relationship_id, not_after, explain } =
    group.context;
  assertEquals(reasons, [{
    code: "no_relationship",
    detail: 'unsupported subject type "group": it must be user, agent or did',
  }]);
  assertEquals([matched_relationship_id, not_after], [null, null]);
  assertEquals(explain.relationships, []);
  for (const id of ["alice", "did:web:", "DID:web:alice.example"]) {
    assertEquals(
      (await ask({ type: "did", id })).context.reasons[0].detail,
      'unsupported subject: an id of type "did" must be a DID',
    );
  }
  const user = await ask({ type: "user", id: "alice" });
  assertEquals(user.context.reasons, [{ code: "no_relationship" }]);
  for (const type of ["User", "user ", "constructor", "\u202euser"]) {
    assertEquals((await ask({ type, id: ALICE })).decision, false, type);
  }
});
